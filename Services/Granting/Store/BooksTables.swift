import Messages
import Pipeline
import Postgres

/// Whether the books of a page of customers agree. One statement, so everything is of one instant: an account that moves
/// meanwhile is seen before or after its movement, never in it.
///
/// Ledger, lots and balance of an account are brought together by grouping, not by joining: a lane joins by index only,
/// and what was just added up has none, so that each account would be compared with each.
enum BooksTables {
    /// A page. Rows tell of an account, a sum, a customer with flags, or the page itself, by `part`.
    static func read(_ question: BooksPageRequested, limit: Int64) -> Statement {
        Statement(sql, [.uuid(question.after.flatMap { UUIDText.parse($0.rawValue) }), .int8(limit)])
    }

    private static let sql = """
        WITH page AS MATERIALIZED (SELECT customer, app FROM granting.customers
            WHERE customer > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000') ORDER BY customer LIMIT $2),
        lines AS MATERIALIZED (SELECT customer, asset, sum(delta) AS total, count(*) FILTER (WHERE broken) AS broken,
                (array_agg(balance_after ORDER BY id DESC))[1] AS newest
            FROM (SELECT l.id, l.customer, l.asset, l.balance_after, d.delta,
                    l.balance_after <> lag(l.balance_after, 1, 0::bigint) OVER account + d.delta AS broken
                FROM page p JOIN granting.ledger l ON l.customer = p.customer
                CROSS JOIN LATERAL (SELECT CASE l.direction WHEN 'IN' THEN l.amount::numeric ELSE -l.amount::numeric END
                    AS delta) AS d
                WINDOW account AS (PARTITION BY l.customer, l.asset ORDER BY l.id)) AS line
            GROUP BY customer, asset),
        left_over AS MATERIALIZED (SELECT l.customer, l.asset, sum(l.remaining) AS total
            FROM page p JOIN granting.lots l ON l.customer = p.customer GROUP BY l.customer, l.asset),
        books AS MATERIALIZED (SELECT max(app) AS app, customer, asset, max(balance) AS balance, sum(ledger) AS ledger,
                sum(lots) AS lots, max(newest) AS newest, max(broken) AS broken
            FROM (SELECT p.app, a.customer, a.asset, a.balance, 0::numeric AS ledger, 0::numeric AS lots,
                    NULL::bigint AS newest, 0::bigint AS broken
                FROM page p JOIN granting.accounts a ON a.customer = p.customer
                UNION ALL SELECT NULL, customer, asset, NULL, total, 0, newest, broken FROM lines
                UNION ALL SELECT NULL, customer, asset, NULL, 0, total, NULL, 0 FROM left_over) AS parts
            GROUP BY customer, asset HAVING count(balance) > 0),
        owed AS (SELECT p.app, d.asset, sum(d.amount - d.settled) AS total
            FROM page p JOIN granting.debts d ON d.customer = p.customer WHERE d.settled < d.amount
            GROUP BY p.app, d.asset)
        SELECT 'page' AS part, NULL AS app, (SELECT customer FROM page ORDER BY customer DESC LIMIT 1) AS customer,
            NULL AS asset, count(*) AS a, 0::bigint AS b, 0::bigint AS c, NULL::bigint AS d, 0::bigint AS e FROM page
        UNION ALL SELECT 'account', app, customer, asset, balance, \(clamped("ledger")), \(clamped("lots")), newest, broken
        FROM books WHERE balance <> ledger OR balance <> lots OR newest IS DISTINCT FROM balance AND (newest IS NOT NULL
            OR balance <> 0) OR broken > 0
        UNION ALL SELECT 'total', b.app, NULL, b.asset, count(*), \(clamped("sum(b.balance)")),
            \(clamped("coalesce(max(o.total), 0)")), NULL, 0
        FROM books b LEFT JOIN owed o ON o.app = b.app AND o.asset = b.asset GROUP BY b.app, b.asset
        UNION ALL SELECT 'risk', p.app, p.customer, NULL, count(*),
            (extract(epoch FROM max(f.raised_at)) * 1000)::bigint, 0, NULL, 0
        FROM page p JOIN granting.risk_flags f ON f.customer = p.customer
        WHERE NOT EXISTS (SELECT FROM granting.risk_clearances c WHERE c.customer = f.customer
            AND c.cleared_at >= f.raised_at)
        GROUP BY p.app, p.customer
        """

    /// Sums are as wide as needed; what a hand has made too large for a message stays at the largest number.
    private static func clamped(_ sum: String) -> String {
        "least(greatest(\(sum), -9223372036854775807), 9223372036854775807)::bigint"
    }

    /// The answer.
    static func answer(_ rows: Rows, limit: Int64) throws -> BooksPageAnswered {
        var page = BooksPageAnswered(
            customers: 0, last: nil, hasMore: false, differences: [], totals: [], risks: [])
        for row in rows {
            switch try row.text("part") {
            case "page":
                page.customers = try row.int8("a")
                page.last = try row.optionalID("customer")
                page.hasMore = page.customers == limit
            case "account":
                page.differences.append(
                    BooksDifference(
                        app: AppID(try row.text("app")), customer: try row.id("customer"),
                        asset: AssetID(try row.text("asset")), balance: try row.int8("a"), ledger: try row.int8("b"),
                        lots: try row.int8("c"), newest: try row.optionalInt8("d"), brokenLines: try row.int8("e")))
            case "total":
                page.totals.append(
                    BooksTotal(
                        app: AppID(try row.text("app")), asset: AssetID(try row.text("asset")),
                        accounts: try row.int8("a"), balance: try row.int8("b"), owed: try row.int8("c")))
            default:
                page.risks.append(
                    BooksRisk(
                        app: AppID(try row.text("app")), customer: try row.id("customer"), flags: try row.int8("a"),
                        lastAt: try row.int8("b")))
            }
        }
        return page
    }
}
