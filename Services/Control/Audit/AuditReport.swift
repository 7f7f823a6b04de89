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

    /// A statement that Verification passed on and Granting has not seen.
    struct Unseen: Equatable {
        let environment: String
        let transactionID: String
        /// The message that brought it; its correlation id stands in `verification.evidence`.
        let message: String
        /// Seconds since it was verified.
        let age: Int64
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
    var unseenTotal: Int64 = 0
    var unseen: [Unseen] = []
    var broker = Broker.notAsked
    var milliseconds: Int64 = 0

    /// What the unseen statements mean.
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
    var unseenVerdict: UnseenVerdict {
        guard unseenTotal > 0 else { return .none }
        switch broker {
        case .queues(let queues):
            let missing = unseenTotal - Int64(queues.purchaseBound)
            return missing > 0 ? .lost(missing) : .inQuestion(bound: queues.purchaseBound)
        case .notAsked: return .lost(unseenTotal)
        case .unreachable(let reason): return .unknown(reason)
        }
    }

    /// All findings of all checks.
    var total: Int64 {
        let lost = if case .lost(let count) = unseenVerdict { count } else { Int64(0) }
        return outcomes.reduce(lost) { $0 + $1.total }
    }

    /// 0 nothing found, 1 findings, 2 not carried out to the end.
    var exitCode: Int32 {
        if total > 0 { return 1 }
        if case .unknown = unseenVerdict { return 2 }
        return 0
    }

    /// Whether the next audit may begin where this one ended: nothing found and nothing left in question.
    var settlesAll: Bool { exitCode == 0 && unseenVerdict == .none }
}
