import Synchronization

/// A number that only grows: things that happened. Restarts begin at zero again. Any thread may use it; an increment is
/// one atomic addition.
public final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    init() {}

    /// Counts one, or `amount`. Amounts below zero are ignored: a counter never falls.
    public func increment(by amount: Int = 1) {
        guard amount > 0 else { return }
        count.wrappingAdd(amount, ordering: .relaxed)
    }

    /// What was counted so far.
    public var value: Int { count.load(ordering: .relaxed) }
}
