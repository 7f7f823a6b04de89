import Messages
import Pipeline
import Postgres

/// Tells reconciliation what was verified, page by page, and whose certificates sign (`verification.queries`). Reads only.
struct AnswerEvidence: Handler {
    /// Facts of a page at most, whatever is asked for.
    static let largestPage: Int64 = 500

    init() {}

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        try batch.map { incoming in
            if let question = incoming.read(EvidencePageRequested.self) {
                return .done(facts: [], reply: try Reply(try page(question, in: &transaction)))
            }
            if incoming.read(ChainsRequested.self) != nil {
                let chains = try SignerTable.read(in: &transaction)
                return .done(facts: [], reply: try Reply(ChainsAnswered(chains: chains)))
            }
            return .park(reason: Incoming.unreadable)
        }
    }

    /// The page ends at the first fact that is too young, also if older ones follow: those were written at the same time
    /// by another lane, and the next page begins before them.
    private func page(
        _ question: EvidencePageRequested, in transaction: inout Transaction
    ) throws -> EvidencePageAnswered {
        let limit = min(max(question.limit, 1), Self.largestPage)
        let rows = try transaction.query(
            """
            SELECT sequence, type, created_at, body FROM verification.facts WHERE sequence > $1
            ORDER BY sequence LIMIT $2
            """, [.int8(question.after), .int8(limit)])
        var page = EvidencePageAnswered(entries: [], last: question.after, hasMore: false)
        for row in rows {
            let time = try row.timestampMilliseconds("created_at")
            guard time < question.before else { return page }
            page.last = try row.int8("sequence")
            guard try row.text("type") == MessageType.purchaseVerified.rawValue else { continue }
            page.entries += Self.entries(Array(try row.text("body").utf8), time)
        }
        page.hasMore = rows.count == Int(limit)
        return page
    }

    private static func entries(_ body: [UInt8], _ time: Int64) -> [EvidenceEntry] {
        guard let said = try? MessageCoding.decode(PurchaseVerified.self, from: body) else { return [] }
        return said.transactions.map {
            EvidenceEntry(
                app: said.app, environment: $0.environment, transactionID: $0.transactionID,
                orderNumber: said.orderNumber, hasSubmitter: said.userID != nil, verifiedAt: time,
                statement: PurchaseStatement($0))
        }
    }
}
