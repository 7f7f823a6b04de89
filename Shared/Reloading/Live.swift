import Synchronization

/// What is in force now; replaced as a whole when the files it was read from change. Any thread.
public final class Live<Value: Sendable>: Sendable {
    private let state: Mutex<(value: Value, version: Int)>

    /// Begins with `value`.
    public init(_ value: Value) { state = Mutex((value, 0)) }

    /// What is in force. Whoever has begun with it keeps what they found.
    public var value: Value { state.withLock { $0.value } }

    /// What is in force, and how often it was replaced.
    public var current: (value: Value, version: Int) { state.withLock { $0 } }

    /// From now on `value` is in force.
    public func replace(by value: Value) {
        state.withLock { state in
            state.value = value
            state.version += 1
        }
    }
}

/// Notices replacements, for whoever makes something costly of what is in force. Belongs to one thread.
public struct Follower<Value: Sendable> {
    private let live: Live<Value>
    private var version: Int

    /// Follows `live` from `value` on: what was replaced since is noticed.
    public init(_ live: Live<Value>) {
        self.live = live
        version = live.current.version
    }

    /// What is in force, if it was replaced since the last look.
    public mutating func changed() -> Value? {
        let (value, version) = live.current
        guard version != self.version else { return nil }
        self.version = version
        return value
    }
}
