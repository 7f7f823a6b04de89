import Messages
import Postgres

/// What is kept under a user's name, counted in the database as it is.
struct KeptOfUser: Equatable {
    /// The customer under which the books stay; nil: Granting knows no such user.
    var customer: CustomerID?
    /// What the user was called as a guest.
    var formerIDs: [UserID] = []
    /// Rows by what they are, in the order in which they are shown.
    var counts: [(what: String, rows: Int64)] = []

    static func == (left: Self, right: Self) -> Bool {
        left.customer == right.customer && left.formerIDs == right.formerIDs
            && left.counts.map(\.what) == right.counts.map(\.what)
            && left.counts.map(\.rows) == right.counts.map(\.rows)
    }

    /// Whether nothing names the user any more.
    var isEmpty: Bool { customer == nil && counts.allSatisfy { $0.rows == 0 } }

    /// Counts. Blocks; looks through all evidence, since no index is kept for this.
    static func read(_ app: AppID, _ user: UserID, _ connection: inout Connection) throws -> KeptOfUser {
        var kept = KeptOfUser()
        let who: [SQLValue] = [.text(app.rawValue), .text(user.rawValue)]
        kept.customer = try connection.query(customerSQL, who).first.map { CustomerID(try $0.text("customer")) }
        if let customer = kept.customer {
            let id: [SQLValue] = [.text(customer.rawValue)]
            kept.formerIDs = try connection.query(formerSQL, id).map { UserID(try $0.text("former_id")) }
            for row in try connection.query(bookSQL, id) {
                kept.counts.append((try row.text("what"), try row.int8("rows")))
            }
        }
        let names = ([user] + kept.formerIDs).map { Optional($0.rawValue) }
        for row in try connection.query(evidenceSQL, [.text(app.rawValue), .textArray(names)]) {
            kept.counts.append((try row.text("what"), try row.int8("rows")))
        }
        return kept
    }

    private static let customerSQL = """
        SELECT c.customer::text AS customer FROM granting.customers c WHERE c.app = $1 AND c.user_id = $2
        """
    private static let formerSQL = """
        SELECT DISTINCT former_id FROM granting.user_commands WHERE customer = $1::text::uuid AND former_id IS NOT NULL
        ORDER BY former_id
        """
    private static let bookSQL = """
        SELECT 'hashes for starter offers' AS what, count(*) AS rows FROM granting.identities
            WHERE customer = $1::text::uuid
        UNION ALL SELECT 'orders that wait', count(*) FROM granting.orders
            WHERE customer = $1::text::uuid AND delivered_transaction IS NULL AND expires_at > clock_timestamp()
        """
    private static let evidenceSQL = """
        SELECT 'signed transactions handed in' AS what, count(*) AS rows FROM verification.evidence
            WHERE app = $1 AND submitter = ANY($2::text[])
        UNION ALL SELECT 'receipts handed in', count(*) FROM verification.receipts
            WHERE app = $1 AND submitter = ANY($2::text[])
        UNION ALL SELECT 'refused submissions', count(*) FROM verification.quarantine
            WHERE app = $1 AND submitter = ANY($2::text[])
        UNION ALL SELECT 'messages told on', count(*) FROM verification.facts
            WHERE app = $1 AND type IN ('purchase.verified', 'receipt.check.requested') AND body::json ->> 'userID' = ANY($2::text[])
        """
}
