public import Messages

/// How often and how long a message goes round the retry ladder.
public enum RetryPolicy {
    /// Attempts after which a message is parked: 5 s, 30 s, 5 m, then hours; about nine hours in all.
    public static let attemptLimit = 12

    /// The usual step for the `attempt`-th retry, from 0.
    public static func delay(attempt: Int) -> Topology.RetryDelay {
        switch attempt {
        case ..<1: .seconds5
        case 1: .seconds30
        case 2: .minutes5
        default: .hour1
        }
    }

    /// What becomes of a message that asks for another attempt: the step to wait on, or nil to park it. Outages
    /// (Apple, OCSP, the clock) never use up the limit: they stay on the last step until they end.
    static func next(_ wish: Topology.RetryDelay, attempt: Int, isOutage: Bool) -> Topology.RetryDelay? {
        guard attempt >= attemptLimit else { return wish }
        return isOutage ? .hour1 : nil
    }
}
