public import AppStore
import Crypto
import JOSE
public import Messages
public import Observability
public import Pipeline
public import Postgres

/// What a lane knows about the chains it sees, in memory: one look-up for each message, a query now and then. Belongs to
/// one thread.
public struct ChainWatch {
    /// How old what is known may become (ms): a revocation that one copy has stored is heeded by all within this time.
    public static let maximumAge: Int64 = 10_000
    /// The same while nobody has answered yet: whoever waits for an answer should not wait long for having missed it.
    public static let maximumAgeUnanswered: Int64 = 1_000
    /// Chains kept; Apple uses one or two at a time. When full, all that the batch does not use go.
    private static let limit = 64

    private struct Entry {
        var state: ChainState
        var readAt: Int64

        func isUsable(at now: Int64) -> Bool {
            let age = state.answer == nil ? maximumAgeUnanswered : maximumAge
            return readAt <= now && now - readAt < age
        }
    }

    private let policy: RevocationPolicy
    private let table: ChainTable
    private let metrics: Metrics
    private let prefix: String
    private var known: [[UInt8]: Entry] = [:]

    /// Watches for a service of this name, which is also its schema's.
    public init(_ policy: RevocationPolicy, service: String, metrics: Metrics) {
        self.policy = policy
        table = ChainTable(schema: service)
        self.metrics = metrics
        prefix = "purser_\(service)"
    }

    /// A chain and the message that brought it.
    public struct Sighting {
        /// The chain.
        public let chain: SignerChain
        /// The message.
        public let message: MessageHeader
        /// Pairs the two.
        public init(_ chain: SignerChain, _ message: MessageHeader) {
            self.chain = chain
            self.message = message
        }
    }

    /// Reads what is not known, or not well enough any more, about the chains of a batch.
    ///
    /// - Returns: requests for a check, by the message that brought the chain: facts of its outcome.
    public mutating func look(
        at sightings: [Sighting], now: Int64, in transaction: inout Transaction
    ) throws -> [MessageID: [Fact]] {
        guard policy != .off else { return [:] }
        var stale: [Sighting] = []
        var last: SignerChain?
        for sighting in sightings where sighting.chain !== last {
            last = sighting.chain
            let isKnown = known[sighting.chain.id].map { $0.isUsable(at: now) } ?? false
            if !isKnown, !stale.contains(where: { $0.chain == sighting.chain }) { stale.append(sighting) }
        }
        guard !stale.isEmpty else { return [:] }
        if known.count + stale.count > Self.limit {
            let inUse = Set(sightings.map(\.chain.id))
            known = known.filter { inUse.contains($0.key) }
        }
        return try read(stale, now, &transaction)
    }

    /// What is known about `chain` means for something signed by it; `look` has seen the chain in this transaction.
    public func verdict(on chain: SignerChain, signedDate: Int64?, now: Int64) -> ChainState.Verdict {
        guard policy != .off else { return .accepted }
        return (known[chain.id]?.state ?? ChainState()).verdict(signedDate: signedDate, policy: policy, now: now)
    }

    private mutating func read(
        _ stale: [Sighting], _ now: Int64, _ transaction: inout Transaction
    ) throws -> [MessageID: [Fact]] {
        let states = try table.states(of: stale.map(\.chain.id), in: &transaction)
        var due: [Sighting] = []
        for sighting in stale {
            let state = states[sighting.chain.id]
            let isDue = state?.isDue(at: now) ?? true
            if isDue { due.append(sighting) }
            // What is claimed below may be rolled back: such an entry serves this batch only.
            known[sighting.chain.id] = Entry(state: state ?? ChainState(), readAt: isDue ? .max : now)
        }
        tell(now)
        guard !due.isEmpty else { return [:] }
        let claimed = try table.claim(due.map(\.chain), now: now, in: &transaction)
        var facts: [MessageID: [Fact]] = [:]
        for sighting in due where claimed.contains(sighting.chain.id) {
            let request = ChainCheckRequested(
                leaf: Base64.encode(sighting.chain.leaf.der),
                intermediate: Base64.encode(sighting.chain.intermediate.der))
            facts[sighting.message.id, default: []].append(
                try Fact(
                    request, key: Hex.encode(sighting.chain.id), revision: now, app: nil, environment: nil,
                    causedBy: sighting.message, occurredAt: now))
        }
        return facts
    }

    /// Gauges for alerts; there is nothing to tell before the first answer.
    private func tell(_ now: Int64) {
        let answers = known.values.filter { $0.state.answer != nil }
        guard !answers.isEmpty else { return }
        let revoked = answers.count { $0.state.answer != .good }
        metrics.gauge(
            "\(prefix)_revoked_chains", help: "Chains of certificates in use that Apple has revoked: worth an alert."
        ).set(Double(revoked))
        let ends = answers.map(\.state.answerEnds).max() ?? now
        metrics.gauge(
            "\(prefix)_revocation_answer_seconds",
            help: "Seconds until the newest answer about revocation ends; below 0 nobody has answered for too long."
        ).set((Double(ends) - Double(now)) / 1_000)
    }
}
