import AppStore
import Crypto
import JOSE
import Messages
import Observability
import Pipeline
import Postgres
import Trust

/// Finds out whether Apple has revoked a chain of certificates (`verification.revocations`), keeps the answer and tells
/// everybody (`chain.checked`).
///
/// One message at a time: an answer may take seconds. The message carries the certificates, and nothing in them is used
/// before they lead to a pinned root. What cannot be found out now goes round the retry ladder for as long as that takes;
/// one message a chain does, others that ask meanwhile are done with it.
struct CheckChains: Handler {
    private let chains: ChainVerifier
    private let asker: RevocationAsker
    private let policy: RevocationPolicy
    private let table = ChainTable(schema: VerificationProgram.name)
    private let instruments: CheckMetrics
    private let logger: Logger
    private let now: @Sendable () -> Int64

    /// Why a message with certificates that nobody trusts is parked.
    static let untrusted = "revocation.chain_untrusted"

    init(
        roots: [Certificate], asker: RevocationAsker, policy: RevocationPolicy, metrics: Metrics, logger: Logger,
        now: @escaping @Sendable () -> Int64 = { WallClock.milliseconds }
    ) throws {
        chains = try ChainVerifier(roots: roots)
        self.asker = asker
        self.policy = policy
        instruments = CheckMetrics(metrics)
        self.logger = logger
        self.now = now
    }

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        var outcomes: [Outcome] = []
        for incoming in batch { outcomes.append(try handle(incoming, in: &transaction)) }
        return outcomes
    }

    private func handle(_ incoming: Incoming, in transaction: inout Transaction) throws -> Outcome {
        guard let request = incoming.read(ChainCheckRequested.self) else { return .park(reason: Incoming.unreadable) }
        guard let path = path(request) else { return .park(reason: Self.untrusted) }
        guard policy != .off else { return .done(facts: [], reply: nil) }
        let chain = SignerChain(leaf: path[0], intermediate: path[1])
        let header = incoming.header
        let time = now()
        let known = try table.states(of: [chain.id], in: &transaction)[chain.id] ?? ChainState()
        if known.answer != nil, known.checkAgainAt > time {
            // Whoever asks may not have heard it.
            return .done(facts: [try fact(message(on: chain, known), chain, header, time)], reply: nil)
        }
        let last = try AttemptTable.last(on: chain, in: &transaction)
        if let carrier = last.by, carrier != header.id, last.at > time - ChainState.patience {
            return .done(facts: [], reply: nil)
        }
        let parts = ask(path, known, header, time)
        return try outcome(of: ChainFinding(parts, now: time), parts, chain, known, header, time, &transaction)
    }

    /// Leaf, intermediate and root, if they lead to a pinned one. The time is one at which both were valid: whether they
    /// still are is for whoever looks at what they signed.
    private func path(_ request: ChainCheckRequested) -> [Certificate]? {
        guard
            let pair = try? chains.certificates(x5c: [request.leaf, request.intermediate, request.intermediate])
        else { return nil }
        let time = max(pair.leaf.validity.notBefore, pair.intermediate.validity.notBefore)
        return try? chains.verify(leaf: pair.leaf, intermediate: pair.intermediate, at: time).certificates
    }

    private func ask(
        _ path: [Certificate], _ known: ChainState, _ header: MessageHeader, _ time: Int64
    ) -> [Result<OCSPAnswer, CheckTrouble>] {
        [(0, known.leafAsOf), (1, known.intermediateAsOf)].map { index, asOf in
            do throws(CheckTrouble) {
                let answer = try asker.ask(
                    about: path[index], issuedBy: path[index + 1], notBefore: asOf / 1_000, at: time / 1_000)
                instruments.checked(answer.status.name).increment()
                return .success(answer)
            } catch {
                instruments.checked(error.name).increment()
                logger.warning(
                    "whether a certificate is revoked could not be found out",
                    [
                        "correlation.id": .string(header.correlationID), "reason": .string(error.name),
                        "detail": .string(error.detail), "certificate.subject": .string(path[index].subject),
                        "certificate.serial": .string(path[index].serialNumber), "attempt": .int(header.attempt),
                    ])
                return .failure(error)
            }
        }
    }

    private func outcome(
        of finding: ChainFinding, _ parts: [Result<OCSPAnswer, CheckTrouble>], _ chain: SignerChain,
        _ known: ChainState, _ header: MessageHeader, _ time: Int64, _ transaction: inout Transaction
    ) throws -> Outcome {
        var state = known
        state.leafAsOf = max(known.leafAsOf, Self.asOf(parts[0]))
        state.intermediateAsOf = max(known.intermediateAsOf, Self.asOf(parts[1]))
        switch finding {
        case .open(let trouble):
            guard trouble.isPassing else {
                AttemptTable.note(
                    trouble.name, on: chain, by: nil, now: time, checkAgainAt: ChainFinding.tryAgain(now: time),
                    in: &transaction)
                return .done(facts: [], reply: nil)
            }
            AttemptTable.note(trouble.name, on: chain, by: header.id, now: time, in: &transaction)
            return .retry(
                after: RetryPolicy.delay(attempt: header.attempt), reason: "revocation.\(trouble.name)", isOutage: true,
                reply: nil)
        case .good(let ends):
            state.answer = .good
            state.answerEnds = ends
        case .revoked(let at, let reason, let ends):
            state.answer = .revoked(at: at, reason: reason)
            state.answerEnds = ends
        }
        state.checkAgainAt = ChainFinding.checkAgain(now: time, ends: state.answerEnds)
        let checked = message(on: chain, state)
        guard try table.record(checked, id: chain.id, in: &transaction) else {
            // Another copy has kept a newer answer since we looked, and told it.
            return .done(facts: [], reply: nil)
        }
        AttemptTable.note(
            checked.revokedAt == nil ? "good" : "revoked", on: chain, by: nil, now: time, in: &transaction)
        if state.answer != known.answer { try tell(state, known, chain, header, &transaction) }
        return .done(facts: [try fact(checked, chain, header, time)], reply: nil)
    }

    private static func asOf(_ part: Result<OCSPAnswer, CheckTrouble>) -> Int64 {
        guard case .success(let answer) = part, answer.status != .unknown else { return 0 }
        return ChainFinding.milliseconds(answer.thisUpdate)
    }

    private func message(on chain: SignerChain, _ state: ChainState) -> ChainChecked {
        var checked = ChainChecked(
            chain: Hex.encode(chain.id), subject: chain.leaf.subject, serialNumber: chain.leaf.serialNumber,
            leafAsOf: state.leafAsOf, intermediateAsOf: state.intermediateAsOf, answerEnds: state.answerEnds,
            checkAgainAt: state.checkAgainAt)
        if case .revoked(let at, let reason) = state.answer {
            checked.revokedAt = at
            checked.reason = reason.map { Int64($0.rawValue) }
        }
        return checked
    }

    private func fact(
        _ checked: ChainChecked, _ chain: SignerChain, _ header: MessageHeader, _ time: Int64
    ) throws -> Fact {
        try Fact(
            checked, key: checked.chain, revision: checked.answerEnds, app: nil, environment: nil, causedBy: header,
            occurredAt: time)
    }

    /// The first lines somebody reads when it happens.
    private func tell(
        _ state: ChainState, _ known: ChainState, _ chain: SignerChain, _ header: MessageHeader,
        _ transaction: inout Transaction
    ) throws {
        var fields: [String: LogValue] = [
            "correlation.id": .string(header.correlationID), "certificate.subject": .string(chain.leaf.subject),
            "certificate.serial": .string(chain.leaf.serialNumber), "chain": .string(Hex.encode(chain.id)),
        ]
        guard case .revoked(let at, let reason) = state.answer else {
            if known.answer == nil {
                logger.info("a chain of certificates is good", fields)
            } else {
                logger.error("a chain of certificates that was revoked is good again", fields)
            }
            return
        }
        let accepted = try AcceptedSince.statements(of: chain, since: at, in: &transaction)
        fields["revoked.at"] = .string(UTCTime.text(at / 1_000))
        fields["revoked.reason"] = .int(reason?.rawValue ?? -1)
        fields["accepted.since"] = .int(Int(accepted.count))
        fields["accepted.more"] = .bool(accepted.isMore)
        logger.error("Apple has revoked a chain of certificates; look at what it signed since", fields)
    }
}

extension OCSPAnswer.Status {
    /// Its name in metrics.
    fileprivate var name: String {
        switch self {
        case .good: "good"
        case .revoked: "revoked"
        case .unknown: "unknown"
        }
    }
}
