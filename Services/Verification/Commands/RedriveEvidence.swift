import Messages
import Observability
import Pipeline
import Postgres

/// Says verified purchases again (`verification.commands`): each as a new message with its own id, caused by the request,
/// for whoever handed it in or for whom an operator names. Granting decides it anew by the same rules, so of a purchase
/// that is decided nothing changes; the asker's place of answer travels on, and the answer is Granting's.
///
/// What is said is what was said before: it stands in a table that nobody can change. The submitter is taken from the
/// evidence, so that of an erased one nothing comes back.
struct RedriveEvidence: Handler {
    private var erased = ErasedUsers()
    private let logger: Logger
    private let now: @Sendable () -> Int64

    init(logger: Logger, now: @escaping @Sendable () -> Int64 = { WallClock.milliseconds }) {
        self.logger = logger
        self.now = now
    }

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        try erased.refresh(in: &transaction)
        var outcomes: [Outcome] = []
        // One by one: operators are few, and reconciliation's window is small.
        for incoming in batch {
            guard let request = EvidenceRedrive(incoming) else {
                outcomes.append(.park(reason: Incoming.unreadable))
                continue
            }
            outcomes.append(try redrive(request, incoming.header, in: &transaction))
        }
        return outcomes
    }

    private func redrive(
        _ request: EvidenceRedrive, _ header: MessageHeader, in transaction: inout Transaction
    ) throws -> Outcome {
        let said = try newest(request, in: &transaction)
        _ = try transaction.query(
            """
            INSERT INTO verification.redrives (message, request, kind, environment, transaction_id, is_known, names_user,
                actor, reason)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING
            """,
            [
                .uuid(UUIDText.parse(header.id.rawValue)), .text(request.request), .text(request.kind.rawValue),
                .text(request.environment.rawValue), .text(request.transactionID.rawValue), .bool(said != nil),
                .bool(request.userID != nil), .text(request.actor), .text(request.reason),
            ])
        logger.info(
            "a verified purchase is said again",
            [
                "correlation.id": .string(header.correlationID), "kind": .string(request.kind.rawValue),
                "transaction.id": .string(request.transactionID.rawValue), "known": .bool(said != nil),
            ])
        guard var body = said else {
            let answer = PurchaseAnswered(status: .refused, code: .transactionNotFound, mayFinish: false)
            return .done(facts: [], reply: try Reply(answer))
        }
        if let user = request.userID {
            body.userID = user
            body.submittedAt = now()
            // Said about another caller's request.
            body.orderNumber = nil
            body.expectation = nil
            body.identities = nil
        }
        let first = body.transaction
        let fact = try Fact(
            body, key: "\(first.environment.rawValue)/\(first.transactionID)", app: body.app,
            environment: first.environment, causedBy: header, occurredAt: now())
        return .done(facts: [fact], reply: nil)
    }

    /// What was said of a purchase with its newest evidence: a signed transaction, else a receipt.
    private func newest(
        _ request: EvidenceRedrive, in transaction: inout Transaction
    ) throws -> PurchaseVerified? {
        for sql in [Self.bySignedTransaction, Self.byReceipt] {
            let rows = try transaction.query(
                sql, [.text(request.environment.rawValue), .text(request.transactionID.rawValue)])
            guard let row = rows.first else { continue }
            let submitter = try row.optionalText("submitter").map { UserID($0) }
            let time = try row.timestampMilliseconds("verified_at")
            guard var said = try? MessageCoding.decode(PurchaseVerified.self, from: Array(row.text("body").utf8)) else {
                continue
            }
            if submitter != nil, !erased.isErased(submitter, of: said.app, at: time) {
                said.userID = submitter
            } else {
                said.userID = nil
                said.identities = nil
            }
            return said
        }
        return nil
    }

    private static let bySignedTransaction = """
        SELECT f.body, e.submitter, e.verified_at FROM verification.evidence e JOIN verification.facts f ON f.cause = e.message
        WHERE e.environment = $1 AND e.transaction_id = $2 AND f.type = 'purchase.verified'
        ORDER BY e.signed_date DESC, e.payload_hash DESC, f.sequence LIMIT 1
        """
    private static let byReceipt = """
        SELECT f.body, r.submitter, r.verified_at FROM verification.receipt_purchases p
        JOIN verification.receipts r ON r.content_hash = p.content_hash
        JOIN verification.facts f ON f.cause = r.message
        WHERE p.environment = $1 AND p.transaction_id = $2 AND f.type = 'purchase.verified'
        ORDER BY r.creation_date DESC, f.sequence LIMIT 1
        """
}
