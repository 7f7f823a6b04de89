import Messages
import Pipeline
import Synchronization

@testable import Reconciliation

/// The other services, as a test has them.
final class ScriptedSources: Sources {
    /// What they say.
    struct Script: Sendable {
        /// What was verified: sequence and entry.
        var said: [(Int64, EvidenceEntry)] = []
        /// What became of it; all else is unknown.
        var outcomes: [PurchaseKey: PurchaseState] = [:]
        /// Parked messages.
        var parked: [String: Int] = [:]
        /// What Granting says of wallets, by the customer after whom a page begins; else nothing is there.
        var books: [String: BooksPageAnswered] = [:]
        /// Chains that sign.
        var chains: [SignerChainState] = []
        /// Consumption requests that wait.
        var deadlines: [ConsumptionDeadline] = []
        /// How many questions about details are answered before nobody answers any more; nil: all.
        var answers: Int?
        /// Entries of a page.
        var pageSize = 500
        /// Whether nobody answers.
        var isSilent = false
        /// Whether the broker takes no request.
        var takesNothing = false
        /// What was said again.
        var redriven: [PurchaseKey] = []
        /// Purchases that were asked about.
        var asked: [PurchaseKey] = []
    }

    let script = Mutex(Script())

    func evidence(after: Int64, before: Int64) throws -> EvidencePageAnswered {
        try script.withLock { script in
            if script.isSilent { throw RequestError.timedOut }
            let rest = script.said.filter { $0.0 > after && $0.1.verifiedAt < before }
            let page = rest.prefix(script.pageSize)
            return EvidencePageAnswered(
                entries: page.map(\.1), last: page.last?.0 ?? after, hasMore: rest.count > page.count)
        }
    }

    func states(of keys: [PurchaseKey]) throws -> [PurchaseState] {
        try script.withLock { script in
            if script.isSilent { throw RequestError.timedOut }
            script.asked += keys
            return keys.map { script.outcomes[$0] ?? PurchaseState(key: $0, outcome: .unknown) }
        }
    }

    func redrive(_ purchase: PurchaseKey, reason: String) throws {
        try script.withLock { script in
            if script.isSilent || script.takesNothing { throw RequestError.timedOut }
            script.redriven.append(purchase)
        }
    }

    func books(after: CustomerID?, limit: Int64) throws -> BooksPageAnswered {
        try script.withLock { script in
            if script.isSilent { throw RequestError.timedOut }
            return script.books[after?.rawValue ?? ""]
                ?? BooksPageAnswered(
                    customers: 0, last: nil, hasMore: false, differences: [], totals: [], risks: [])
        }
    }

    func details(of keys: [PurchaseKey]) throws -> [PurchaseState] {
        try script.withLock { script in
            guard let answers = script.answers else { return }
            if answers <= 0 { throw RequestError.timedOut }
            script.answers = answers - 1
        }
        return try states(of: keys)
    }

    func chains() throws -> [SignerChainState] {
        try script.withLock { script in
            if script.isSilent { throw RequestError.timedOut }
            return script.chains
        }
    }

    func consumptionDeadlines(before: Int64, endedAfter: Int64) throws -> [ConsumptionDeadline] {
        try script.withLock { script in
            if script.isSilent { throw RequestError.timedOut }
            return script.deadlines.filter {
                !$0.isOver && $0.deadline < before || $0.isOver && $0.deadline > endedAfter
            }
        }
    }

    func parked() throws -> [String: Int] { script.withLock { $0.parked } }
}
