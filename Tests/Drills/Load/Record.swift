import Synchronization

/// What the drill itself knows: what was paid, what was spent, every answer. The product's books are compared with
/// this, never with what the product counts itself. Any thread.
final class Record: Sendable {
    /// A purchase the store has told of.
    struct Purchase: Sendable {
        /// Who bought.
        let user: String
        /// Apple's book.
        let environment: String
        /// What was bought.
        let product: Goods
        /// How often it was sent.
        var submissions = 0
        /// The successes, in order of arrival.
        var answers: [String] = []
        /// Whether the store was told that it is delivered.
        var isFinished = false
    }

    /// The final answer to a spend.
    struct Decision: Sendable, Equatable {
        /// `SPENT`, or the code of the refusal.
        let code: String
        /// The balance told with it.
        let balanceAfter: Int64?
    }

    /// A spend a server asked for.
    struct Spend: Sendable {
        /// Whose wallet.
        let user: String
        /// What.
        let asset: String
        /// How much.
        let amount: Int64
        /// How often it is to be asked for.
        let copies: Int
        /// Whether no wallet can hold so much.
        let isTooLarge: Bool
        /// The answers; all must be equal.
        var answers: [Decision] = []
    }

    private struct State {
        var purchases: [String: Purchase] = [:]
        var spends: [String: Spend] = [:]
        var anomalies: [String] = []
        var delivered = 0
        var calls: [String: Int] = [:]
        var slowest = Duration.zero
        var restarts = 0
        var refunded: Set<String> = []
        var wholly: Set<String> = []
        var shares: [String: Int64] = [:]
    }

    private let state = Mutex(State())

    /// More anomalies than this say nothing new.
    private static let anomaliesKept = 50

    /// The store told of a purchase; again, after a client's restart, it is no news.
    func paid(_ transactionID: String, _ purchase: Purchase) {
        state.withLock { state in
            if state.purchases[transactionID] == nil { state.purchases[transactionID] = purchase }
        }
    }

    /// It is sent to the backend.
    func submitted(_ transactionID: String) {
        state.withLock { $0.purchases[transactionID]?.submissions += 1 }
    }

    /// The backend answered that it is delivered. Returns whether the store is still to be told.
    func answered(_ transactionID: String, _ status: String) -> Bool {
        state.withLock { state in
            state.delivered += 1
            state.purchases[transactionID]?.answers.append(status)
            return state.purchases[transactionID]?.isFinished == false
        }
    }

    /// The store was told.
    func finished(_ transactionID: String) { state.withLock { $0.purchases[transactionID]?.isFinished = true } }

    /// A spend is about to be asked for.
    func asked(_ id: String, _ spend: Spend) { state.withLock { $0.spends[id] = spend } }

    /// A spend was decided.
    func decided(_ id: String, _ decision: Decision) { state.withLock { $0.spends[id]?.answers.append(decision) } }

    /// Something that must never happen.
    func anomaly(_ text: String) {
        state.withLock { state in
            if state.anomalies.count < Self.anomaliesKept { state.anomalies.append(text) }
        }
    }

    /// An HTTP call was answered, or not, after this time.
    func called(_ outcome: String, after duration: Duration) {
        state.withLock { state in
            state.calls[outcome, default: 0] += 1
            state.slowest = max(state.slowest, duration)
        }
    }

    /// A client forgot everything and asked the store what is unfinished.
    func restarted() { state.withLock { $0.restarts += 1 } }

    /// The store is about to be asked to refund a share of a purchase (100 = all of it).
    func refunding(_ transactionID: String, percentage: Int64) {
        state.withLock { state in
            state.refunded.insert(transactionID)
            if percentage == 100 { state.wholly.insert(transactionID) }
        }
    }

    /// What share of a purchase is refunded in the end, by the store.
    func settled(_ transactionID: String, percentage: Int64) {
        state.withLock { $0.shares[transactionID] = percentage }
    }

    /// Whether a purchase was ever to be refunded wholly: then it may be refused as revoked.
    func mayBeRevoked(_ transactionID: String) -> Bool { state.withLock { $0.wholly.contains(transactionID) } }

    /// Purchases that were ever to be refunded.
    var refunded: Set<String> { state.withLock { $0.refunded } }
    /// Refunded shares in per cent, as far as they are settled.
    var shares: [String: Int64] { state.withLock { $0.shares } }

    /// How many answers said that a purchase is delivered.
    var delivered: Int { state.withLock { $0.delivered } }
    /// All purchases by transaction id.
    var purchases: [String: Purchase] { state.withLock { $0.purchases } }
    /// All spends by id.
    var spends: [String: Spend] { state.withLock { $0.spends } }
    /// What must never happen and did.
    var anomalies: [String] { state.withLock { $0.anomalies } }
    /// Answers by status and code, and calls without an answer by their error.
    var calls: [String: Int] { state.withLock { $0.calls } }
    /// The longest wait for an answer.
    var slowest: Duration { state.withLock { $0.slowest } }
    /// Restarts of clients.
    var restarts: Int { state.withLock { $0.restarts } }
}

/// A product of apps/cloudpc.yaml and what it is worth.
struct Goods: Sendable, Equatable {
    /// Apple's product id.
    let id: String
    /// What it grants.
    let asset: String
    /// How much.
    let amount: Int64

    /// Those that drills buy.
    static let all = [
        Goods(id: "pyy_danbing_60", asset: "DANBING", amount: 60),
        Goods(id: "pyy_danbing_300", asset: "DANBING", amount: 300),
        Goods(id: "pyy_timecard_30m", asset: "TIME_MINUTES", amount: 30),
        Goods(id: "pyy_timecard_180m", asset: "TIME_MINUTES", amount: 180),
    ]
}
