import Messages
import Pipeline
import Runtime
import Synchronization

/// Who says what became of purchases.
protocol StateSources: Sendable {
    /// Of at most ``PurchaseStatesRequested/mostKeys`` purchases; throws `RequestError`.
    func states(of keys: [PurchaseKey]) throws -> [PurchaseState]
}

extension StateSources {
    /// By purchase, however many there are.
    func allStates(of keys: [PurchaseKey]) throws -> [PurchaseKey: PurchaseState] {
        try PurchaseState.collect(keys) { try states(of: $0) }
    }
}

extension PurchaseState {
    /// By purchase, asked for in as many questions as are needed.
    static func collect(
        _ keys: [PurchaseKey], _ ask: ([PurchaseKey]) throws -> [PurchaseState]
    ) throws -> [PurchaseKey: PurchaseState] {
        var states: [PurchaseKey: PurchaseState] = [:]
        for start in stride(from: 0, to: keys.count, by: PurchaseStatesRequested.mostKeys) {
            let some = Array(keys[start..<min(start + PurchaseStatesRequested.mostKeys, keys.count)])
            for state in try ask(some) { states[state.key] = state }
        }
        return states
    }
}

/// Whom the checks ask, and who says a purchase again.
protocol Sources: BookSources, StateSources {
    /// A page of what was verified; throws `RequestError`.
    func evidence(after: Int64, before: Int64) throws -> EvidencePageAnswered
    /// Has a purchase said again: returns once the broker has the request for good; throws `RequestError`.
    func redrive(_ purchase: PurchaseKey, reason: String) throws
    /// Messages in each parked queue; throws `AMQPError`.
    func parked() throws -> [String: Int]
    /// The chains of certificates that sign for us; throws `RequestError`.
    func chains() throws -> [SignerChainState]
    /// Consumption requests whose time ends before a time, or that Apple has waited for in vain since another (ms since
    /// 1970); throws `RequestError`.
    func consumptionDeadlines(before: Int64, endedAfter: Int64) throws -> [ConsumptionDeadline]
}

/// The other services, over the broker. Blocks its thread: for the checks' own, never for the cooperative pool.
struct BrokerSources: Sources {
    let requester: Requester
    let inspect: @Sendable () throws -> [String: Int]

    /// Entries of a page: an answer stays below 256 kB.
    static let pageSize: Int64 = 500
    /// Answers take milliseconds; questions that are older are dropped by the broker.
    private static let patience = Duration.seconds(5)

    func evidence(after: Int64, before: Int64) throws -> EvidencePageAnswered {
        try ask(
            EvidencePageRequested(after: after, before: before, limit: Self.pageSize),
            expecting: EvidencePageAnswered.self)
    }

    func states(of keys: [PurchaseKey]) throws -> [PurchaseState] {
        guard !keys.isEmpty else { return [] }
        return try ask(PurchaseStatesRequested(keys: keys), expecting: PurchaseStatesAnswered.self).states
    }

    func redrive(_ purchase: PurchaseKey, reason: String) throws {
        let request = EvidenceRedriveRequested(
            environment: purchase.environment, transactionID: purchase.transactionID, actor: FindingStore.itself,
            reason: reason)
        let context = context()
        try wait { [requester] in try await requester.tell(request, context: context) }
    }

    func parked() throws -> [String: Int] { try inspect() }

    func chains() throws -> [SignerChainState] {
        try ask(ChainsRequested(), expecting: ChainsAnswered.self).chains
    }

    func consumptionDeadlines(before: Int64, endedAfter: Int64) throws -> [ConsumptionDeadline] {
        try ask(
            ConsumptionDeadlinesRequested(before: before, endedAfter: endedAfter),
            expecting: ConsumptionDeadlinesAnswered.self
        ).requests
    }

    /// What travels with a question.
    func context(_ app: AppID? = nil) -> Requester.Context {
        Requester.Context(app: app, correlationID: UUIDText.random(), patience: Self.patience)
    }

    /// Asks and waits; throws `RequestError`.
    func ask<Question: Message, Answer: Message>(
        _ question: Question, expecting answer: Answer.Type
    ) throws -> Answer {
        let context = context()
        return try wait { [requester] in try await requester.ask(question, expecting: answer, context: context) }
    }

    /// Blocks until `work` is done.
    func wait<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
        let (slot, done) = (Slot<Value>(), StopSignal())
        Task {
            do {
                let value = try await work()
                slot.result.withLock { $0 = .success(value) }
            } catch {
                slot.result.withLock { $0 = .failure(error) }
            }
            done.stop()
        }
        done.wait()
        guard let result = slot.result.withLock({ $0 }) else { throw RequestError.timedOut }
        return try result.get()
    }

    /// Filled by the task, read by the thread that waited for it.
    private final class Slot<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }
}
