/// What an audit found.
struct AuditReport {
    /// Where something is wrong: the values of the check's keys, and why.
    struct Finding: Equatable {
        let keys: [(name: String, value: String)]
        let problem: String

        static func == (left: Finding, right: Finding) -> Bool {
            left.problem == right.problem && left.keys.elementsEqual(right.keys) { $0 == $1 }
        }
    }

    /// One check carried out.
    struct Outcome {
        let name: String
        let proves: String
        /// What was looked at, and how much of it.
        let noun: String
        let examined: Int64
        /// How many findings, of which some are kept.
        let total: Int64
        let findings: [Finding]
        let milliseconds: Int64
    }

    /// What one service passed on and another has not seen.
    struct Unseen {
        /// The values of the check's keys.
        let keys: [(name: String, value: String)]
        /// The message that brought it, or that is to bring it.
        let message: String
        /// Seconds since then.
        let age: Int64
        /// What is missing, if that can be told.
        let problem: String?
    }

    /// What a check that needs the broker too has found.
    struct Sight {
        let check: SightCheck
        var total: Int64 = 0
        var unseen: [Unseen] = []
    }

    /// The broker's part.
    enum Broker: Equatable {
        /// How many messages wait.
        case queues(AuditQueues)
        /// No broker was named.
        case notAsked
        /// Why it could not be asked.
        case unreachable(String)
    }

    var database = ""
    /// When the snapshot was taken (ms since 1970, the database's clock).
    var snapshot: Int64 = 0
    var scope = AuditScope.everything
    /// Seconds that work may be under way.
    var grace = 0
    var outcomes: [Outcome] = []
    /// What became of the verified purchases, most frequent first.
    var purchases: [(outcome: String, count: Int64)] = []
    var sights: [Sight] = []
    var broker = Broker.notAsked
    var milliseconds: Int64 = 0

    /// What the unseen mean.
    enum UnseenVerdict: Equatable {
        /// There are none.
        case none
        /// The broker holds at least as many messages: they may all wait there.
        case inQuestion(bound: Int)
        /// At least so many are nowhere.
        case lost(Int64)
        /// Without the broker nobody can tell.
        case unknown(String)
    }

    /// Exact when the queues are empty, otherwise as exact as their lengths allow.
    func verdict(_ sight: Sight) -> UnseenVerdict {
        guard sight.total > 0 else { return .none }
        switch broker {
        case .queues(let queues):
            let bound = queues.bound(sight.check.queues)
            let missing = sight.total - Int64(bound)
            return missing > 0 ? .lost(missing) : .inQuestion(bound: bound)
        case .notAsked: return .lost(sight.total)
        case .unreachable(let reason): return .unknown(reason)
        }
    }

    /// All findings of all checks.
    var total: Int64 {
        let lost = sights.reduce(Int64(0)) { sum, sight in
            if case .lost(let count) = verdict(sight) { sum + count } else { sum }
        }
        return outcomes.reduce(lost) { $0 + $1.total }
    }

    /// 0 nothing found, 1 findings, 2 not carried out to the end.
    var exitCode: Int32 {
        if total > 0 { return 1 }
        for sight in sights { if case .unknown = verdict(sight) { return 2 } }
        return 0
    }

    /// Whether the next audit may begin where this one ended: nothing found and nothing left in question.
    var settlesAll: Bool { exitCode == 0 && sights.allSatisfy { verdict($0) == .none } }
}
