import Synchronization

/// A number that goes up and down: a depth, an age, a state. Any thread may use it.
public final class Gauge: Sendable {
    private let current = Mutex<Double>(0)

    init() {}

    /// Replaces the value.
    public func set(_ value: Double) {
        current.withLock { $0 = value }
    }

    /// Replaces the value.
    public func set(_ value: Int) {
        set(Double(value))
    }

    /// Adds to the value; negative amounts lower it.
    public func add(_ amount: Double) {
        current.withLock { $0 += amount }
    }

    /// The value now.
    public var value: Double { current.withLock { $0 } }
}
