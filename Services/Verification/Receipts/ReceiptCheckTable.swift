import AppStore
import Messages
import Pipeline
import Postgres

/// A receipt that waits for Apple's answer.
struct PendingReceipt {
    /// The message that brought it.
    let submission: MessageID
    let container: [UInt8]
}

/// The tables of receipts that Apple is asked about.
enum ReceiptCheckTable {
    /// Decided checks kept, which is for as long as a message about them may be delivered again.
    static let limit: Int64 = 10_000

    /// What is known of a check.
    enum State {
        /// It waits.
        case pending(container: [UInt8])
        /// It is decided; the answer if it was refused.
        case decided(answer: PurchaseAnswered?)
    }

    private static let insert = """
        INSERT INTO verification.receipt_checks (submission, receipt)
        SELECT DISTINCT ON (submission) * FROM unnest($1::uuid[], $2::bytea[]) AS given(submission, receipt)
        ORDER BY submission ON CONFLICT DO NOTHING
        """
    private static let select = """
        SELECT receipt, answer FROM verification.receipt_checks WHERE submission = $1::uuid FOR UPDATE
        """
    private static let update = """
        UPDATE verification.receipt_checks SET receipt = NULL, answer = $2::text, decided_at = clock_timestamp()
        WHERE submission = $1::uuid
        """
    private static let cap = """
        DELETE FROM verification.receipt_checks WHERE receipt IS NULL
            AND sequence <= (SELECT max(sequence) FROM verification.receipt_checks) - $1::bigint
        """
    private static let insertAnswer = """
        INSERT INTO verification.receipt_answers (content_hash, asked, answer, message)
        VALUES ($1::bytea, $2::text, $3::bytea, $4::uuid) ON CONFLICT DO NOTHING
        """

    /// Keeps receipts until they are decided; those that are known already stay as they are.
    static func keep(_ receipts: [PendingReceipt], in transaction: inout Transaction) {
        guard !receipts.isEmpty else { return }
        transaction.enqueue(
            insert,
            [
                .uuidArray(receipts.map { UUIDText.parse($0.submission.rawValue) }),
                .bytesArray(receipts.map(\.container)),
            ])
    }

    /// What is known of the receipt of a submission, locked; nil: nobody knows of it, so it was decided long ago.
    static func state(of submission: MessageID, in transaction: inout Transaction) throws -> State? {
        guard let id = UUIDText.parse(submission.rawValue),
            let row = try transaction.query(select, [.uuid(id)]).first
        else { return nil }
        if let container = try row.optionalBytes("receipt") { return .pending(container: container) }
        return .decided(
            answer: try row.optionalText("answer").flatMap {
                try? MessageCoding.decode(PurchaseAnswered.self, from: Array($0.utf8))
            })
    }

    /// Notes that it is decided: the bytes go, the answer stays.
    static func decide(
        _ submission: MessageID, answer: PurchaseAnswered?, in transaction: inout Transaction
    ) throws {
        let text = try answer.map { String(decoding: try MessageCoding.encode($0), as: UTF8.self) }
        transaction.enqueue(update, [.uuid(UUIDText.parse(submission.rawValue)), .text(text)])
        transaction.enqueue(cap, [.int8(limit)])
    }

    /// Keeps Apple's words beside the receipt that they are about.
    static func keep(
        answer: [UInt8], by environment: AppStoreEnvironment, about contentHash: [UInt8], cause: MessageHeader,
        in transaction: inout Transaction
    ) {
        transaction.enqueue(
            insertAnswer,
            [
                .bytes(contentHash), .text(environment.rawValue), .bytes(answer),
                .uuid(UUIDText.parse(cause.id.rawValue)),
            ])
    }
}
