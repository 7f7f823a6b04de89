import Messages
import Postgres
import ServerAPIAccess

/// `reconciliation.apple_accounts`: who bought, and how far Apple was asked about each. Accounts are asked about in turn,
/// whoever was asked about longest ago first.
enum AppleAccountTable {
    /// An Apple account whose turn it is.
    struct Account: Equatable {
        /// Its name here.
        let name: String
        /// The purchase by which Apple is asked.
        let transactionID: TransactionID
        /// Where its list was read up to; nil: not yet.
        let revision: String?
        /// Since when it is its turn (ms since 1970).
        let turn: Int64
    }

    /// New ones of one hour have their turn together, the newest buyer first (ms): so it is when the buyers of years are
    /// taken in at the start, and later nobody is passed over for longer than that.
    private static let hour: Int64 = 3_600_000

    /// Takes in the buyers of verified purchases, which are in ``PurchaseTable`` already.
    static func record(_ keys: [PurchaseKey], now: Int64, in transaction: inout Transaction) throws {
        guard !keys.isEmpty else { return }
        _ = try transaction.query(
            """
            INSERT INTO reconciliation.apple_accounts AS a (app, environment, bundle_id, account, transaction_id,
                bought_at, refunds_at)
            SELECT DISTINCT ON (app, environment, bundle_id, account) app, environment, bundle_id, account,
                transaction_id, purchase_date, $3
            FROM (SELECT p.*, \(account) AS account FROM reconciliation.purchases p
                JOIN (SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS k(environment, transaction_id)) AS given
                    USING (environment, transaction_id)
                WHERE p.bundle_id <> '') AS bought
            ORDER BY app, environment, bundle_id, account, purchase_date DESC
            ON CONFLICT (app, environment, bundle_id, account) DO UPDATE SET bought_at = excluded.bought_at
                WHERE a.bought_at < excluded.bought_at
            """,
            [
                .textArray(keys.map(\.environment.rawValue)), .textArray(keys.map(\.transactionID.rawValue)),
                .int8(now - now % hour),
            ])
    }

    /// Whose the purchase `p` is at Apple, as well as it can be told.
    private static let account = """
        coalesce('account/' || p.app_transaction_id, (SELECT 'customer/' || j.customer FROM reconciliation.journal j
            WHERE j.transaction_id = p.transaction_id AND j.environment = p.environment
                AND j.type = 'purchase.granted' AND j.customer IS NOT NULL ORDER BY j.occurred_at LIMIT 1),
            'purchase/' || p.original_transaction_id)
        """

    /// Whose turn it is, the earliest first, then the newest buyers.
    ///
    /// - Parameter since: only who bought from here on (ms since 1970).
    static func due(
        _ place: ServerAPIClients.Place, since: Int64, now: Int64, limit: Int, in transaction: inout Transaction
    ) throws -> [Account] {
        try transaction.query(
            """
            SELECT account, transaction_id, refunds_revision, refunds_at FROM reconciliation.apple_accounts
            WHERE app = $1 AND environment = $2 AND bundle_id = $3 AND bought_at >= $4 AND refunds_at <= $5
            ORDER BY refunds_at, bought_at DESC, account LIMIT $6
            """, key(place) + [.int8(since), .int8(now), .int8(Int64(limit))]
        ).map { row in
            Account(
                name: try row.text("account"), transactionID: TransactionID(try row.text("transaction_id")),
                revision: try row.optionalText("refunds_revision"), turn: try row.int8("refunds_at"))
        }
    }

    /// Since when somebody who bought recently waits for their turn (ms since 1970); nil: nobody does.
    static func longestWait(
        _ place: ServerAPIClients.Place, since: Int64, now: Int64, in transaction: inout Transaction
    ) throws -> Int64? {
        try transaction.query(
            """
            SELECT min(refunds_at) AS first FROM reconciliation.apple_accounts
            WHERE app = $1 AND environment = $2 AND bundle_id = $3 AND bought_at >= $4 AND refunds_at <= $5
            """, key(place) + [.int8(since), .int8(now)]
        ).first?.optionalInt8("first")
    }

    /// Where an account's list was read up to, and when its turn is next.
    static func move(
        _ account: Account, of place: ServerAPIClients.Place, to revision: String?, next: Int64,
        in transaction: inout Transaction
    ) throws {
        _ = try transaction.query(
            """
            UPDATE reconciliation.apple_accounts SET refunds_revision = $5, refunds_at = $6
            WHERE app = $1 AND environment = $2 AND bundle_id = $3 AND account = $4
            """, key(place) + [.text(account.name), revision.map { .text($0) } ?? .null, .int8(next)])
    }

    private static func key(_ place: ServerAPIClients.Place) -> [SQLValue] {
        [.text(place.app.rawValue), .text(place.environment.rawValue), .text(place.bundleID)]
    }
}
