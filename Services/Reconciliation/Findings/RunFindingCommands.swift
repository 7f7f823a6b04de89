import Messages
import Observability
import Pipeline
import Postgres

/// Does what operators decide about findings (`reconciliation.commands`). One by one, each seeing the one before it:
/// operators are few. A word that is delivered again finds its entry in the record and is answered as the first time.
struct RunFindingCommands: Handler {
    private let logger: Logger
    private let now: @Sendable () -> Int64

    init(logger: Logger, now: @escaping @Sendable () -> Int64 = { WallClock.milliseconds }) {
        self.logger = logger
        self.now = now
    }

    /// What an operator said.
    private struct Word {
        let finding: Int64
        let actor: String
        let reason: String
        let isAccepting: Bool

        /// Bytes of an actor's name or a reason at most.
        private static let longestText = 1_000

        init?(_ incoming: Incoming) {
            if let request = incoming.read(FindingAcceptRequested.self) {
                (finding, actor, reason, isAccepting) = (request.finding, request.actor, request.reason, true)
            } else if let request = incoming.read(FindingRedriveRequested.self) {
                (finding, actor, reason, isAccepting) = (request.finding, request.actor, request.reason, false)
            } else {
                return nil
            }
            let isStorable = [actor, reason].allSatisfy {
                !$0.isEmpty && $0.utf8.count <= Self.longestText && !$0.utf8.contains(0)
            }
            guard isStorable else { return nil }
        }
    }

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        let words = batch.map { Word($0) }
        // All of them before any is looked at, in one order: two copies that were given the same words wait for each
        // other, and the second one reads what the first has done.
        let named = words.compactMap { $0?.finding }
        // Feeds first, in which order whoever hands them in has both.
        try AppleFeedTable.lock(ofFindings: named, in: &transaction)
        _ = try transaction.query(
            "SELECT id FROM reconciliation.findings WHERE id = ANY($1) ORDER BY id FOR UPDATE", [.int8Array(named)])
        var outcomes: [Outcome] = []
        for (incoming, word) in zip(batch, words) {
            guard let word else {
                outcomes.append(.park(reason: Incoming.unreadable))
                continue
            }
            outcomes.append(try decide(word, incoming.header, in: &transaction))
        }
        return outcomes
    }

    private func decide(
        _ word: Word, _ header: MessageHeader, in transaction: inout Transaction
    ) throws -> Outcome {
        let rows = try transaction.query(
            """
            SELECT f.kind, f.subject, f.state, f.app, f.environment, f.transaction_id,
                EXISTS (SELECT FROM reconciliation.finding_events e WHERE e.cause = $2) AS is_done
            FROM reconciliation.findings f WHERE f.id = $1
            """, [.int8(word.finding), .uuid(UUIDText.parse(header.id.rawValue))])
        guard let row = rows.first, let kind = FindingKind(rawValue: try row.text("kind")) else {
            return try answered(.unknown)
        }
        // The lane finds what it told by its cause.
        if try row.bool("is_done") { return try answered(word.isAccepting ? .accepted : .redriven) }
        guard ["open", "redriven"].contains(try row.text("state")) else { return try answered(.ended) }
        if word.isAccepting {
            try write(word, "accepted", header, in: &transaction)
            return try answered(.accepted)
        }
        // What Apple has signed lies here: it is handed in at the next look, a second from now.
        if try AppleFeedTable.hurry(kind, try row.text("subject"), at: now(), in: &transaction) {
            try write(word, "redriven", header, in: &transaction)
            return try answered(.redriven)
        }
        guard kind.isRedrivable, let name = try row.optionalText("environment"),
            let environment = StoreEnvironment(rawValue: name), let id = try row.optionalText("transaction_id")
        else { return try answered(.notRedrivable) }
        try write(word, "redriven", header, in: &transaction)
        let request = EvidenceRedriveRequested(
            environment: environment, transactionID: TransactionID(id), actor: word.actor,
            reason: "finding \(word.finding): \(word.reason)")
        let fact = try Fact(
            request, key: "\(environment.rawValue)/\(id)", app: try row.optionalText("app").map { AppID($0) },
            environment: environment, causedBy: header, occurredAt: now())
        return .done(facts: [fact], reply: try Reply(FindingAnswered(outcome: .redriven)))
    }

    private func answered(_ outcome: FindingAnswered.Outcome) throws -> Outcome {
        .done(facts: [], reply: try Reply(FindingAnswered(outcome: outcome)))
    }

    private func write(
        _ word: Word, _ event: String, _ header: MessageHeader, in transaction: inout Transaction
    ) throws {
        let time = now()
        let change =
            word.isAccepting
            ? "state = 'accepted', ended_at = $2"
            : "state = 'redriven', attempts = attempts + 1, next_at = $2 + \(Self.rest)"
        _ = try transaction.query(
            "UPDATE reconciliation.findings SET \(change) WHERE id = $1", [.int8(word.finding), .int8(time)])
        _ = try transaction.query(
            """
            INSERT INTO reconciliation.finding_events (finding, at, event, actor, reason, cause)
            VALUES ($1, $2, $3, $4, $5, $6)
            """,
            [
                .int8(word.finding), .int8(time), .text(event), .text(word.actor), .text(word.reason),
                .uuid(UUIDText.parse(header.id.rawValue)),
            ])
        logger.info(
            "an operator has decided about a finding",
            [
                "correlation.id": .string(header.correlationID), "finding": .int(Int(word.finding)),
                "event": .string(event),
            ])
    }

    /// After an operator's attempt the next own one waits (ms): long enough for Granting to have decided.
    private static let rest: Int64 = 60_000
}
