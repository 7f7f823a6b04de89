public import Messages

/// The places of a lane's iteration at which a process may die. The crash-point suite stops at each of them.
public enum CrashPoint: String, Sendable, CaseIterable {
    /// Everything is decided, the transaction is open; what is left to write travels with COMMIT.
    case beforeCommit = "before_commit"
    /// The transaction is committed, nothing of it is published; what was published before may await its confirms.
    case afterCommit = "after_commit"
    /// Replies and facts are confirmed, nothing is acknowledged.
    case afterPublish = "after_publish"
    /// Everything is published, the acknowledgement is next.
    case beforeAck = "before_ack"
}

/// Watches a lane at its crash points. Production uses ``NoProbe``; tests throw ``SimulatedCrash`` from it, which drops
/// the lane's connections without acknowledging anything: to broker and database the same as `kill -9`.
public protocol LaneProbe: Sendable {
    /// Called on the lane's thread.
    func reached(_ point: CrashPoint, batch: [MessageID]) throws
}

/// Lets everything pass.
public struct NoProbe: LaneProbe {
    /// A probe without state.
    public init() {}
    /// Does nothing.
    public func reached(_ point: CrashPoint, batch: [MessageID]) {}
}

/// Ends a lane as if its process had died at this point.
public struct SimulatedCrash: Error, Sendable {
    /// Where.
    public let point: CrashPoint
    /// A crash at `point`.
    public init(at point: CrashPoint) { self.point = point }
}
