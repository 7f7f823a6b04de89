public import Crypto

/// What is known about a chain of certificates. Times are milliseconds since 1970, but where it says otherwise.
public struct ChainState: Sendable, Equatable {
    /// What Apple's responders say.
    public enum Answer: Sendable, Equatable {
        /// Neither certificate is revoked.
        case good
        /// One of them is, since then; the reason if one was given.
        case revoked(at: Int64, reason: RevocationReason?)
    }

    /// Nil as long as nobody has answered.
    public var answer: Answer?
    /// When the answer ends.
    public var answerEnds: Int64 = 0
    /// From when on it is worth asking.
    public var checkAgainAt: Int64 = 0
    /// When somebody was asked to ask, or has tried to; 0 since it was answered.
    public var askedAt: Int64 = 0
    /// The time at which the answer about the leaf was known to be right.
    public var leafAsOf: Int64 = 0
    /// The same about the intermediate.
    public var intermediateAsOf: Int64 = 0

    /// Nothing is known.
    public init() {}

    /// A request for a check that has left no trace for this long is lost (an operator discarded it, say): another one
    /// is made. Twice the longest step of the retry ladder, so that one that waits is never doubled.
    public static let patience: Int64 = 2 * 3_600_000

    /// Whether somebody should be asked to find out, `now`.
    public func isDue(at now: Int64) -> Bool { checkAgainAt <= now && askedAt <= now - Self.patience }

    /// What it means for something signed.
    public enum Verdict: Sendable, Equatable {
        /// It counts.
        case accepted
        /// It does not.
        case revoked
        /// It cannot be said yet.
        case waits
    }

    /// What the policy makes of something signed at `signedDate` (nil: it does not say), `now`.
    ///
    /// A certificate whose key is in other hands proves nothing, whatever date is in what it signed. One that was revoked
    /// for any other reason still proves what was signed before.
    public func verdict(signedDate: Int64?, policy: RevocationPolicy, now: Int64) -> Verdict {
        switch (policy, answer) {
        case (.off, _): return .accepted
        case (_, .revoked(let at, let reason)):
            if reason?.isCompromise ?? false { return .revoked }
            guard let signedDate, signedDate < at else { return .revoked }
            return .accepted
        case (.background, _): return .accepted
        case (.required, .good): return now <= answerEnds ? .accepted : .waits
        case (.required, nil): return .waits
        }
    }
}
