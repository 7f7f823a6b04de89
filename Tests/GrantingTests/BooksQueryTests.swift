import Messages
import Pipeline
import TestSupport
import Testing

@testable import Granting

/// Whether the books agree, page by page, and what they say of single purchases.
@Suite(.timeLimit(.minutes(3))) struct BooksQueryTests {
    private static func page(
        _ session: inout Session, after: CustomerID? = nil, limit: Int64 = 500
    ) throws -> BooksPageAnswered {
        let outcome = try session.run(
            AnswerQueries(), [try message(BooksPageRequested(after: after, limit: limit))])[0]
        return try #require(try outcome.answer(BooksPageAnswered.self))
    }

    private static func details(_ session: inout Session, _ id: String) throws -> PurchaseDetails {
        let key = PurchaseKey(environment: .production, transactionID: TransactionID(id))
        let outcome = try session.run(
            AnswerQueries(), [try message(PurchaseStatesRequested(keys: [key], withDetails: true))])[0]
        return try #require(try outcome.answer(PurchaseStatesAnswered.self)?.states.first?.details)
    }

    /// Purchases 1 to 5 of five users, and the refund of half of number 2.
    private static func buy(_ session: inout Session) throws {
        _ = try session.run(
            GrantPurchases(), try (1...5).map { try verified(transaction("\($0)"), by: "user\($0)") })
        _ = try session.run(
            GrantPurchases(), [try verified(transaction("2", signed: 2_000_000_000_000, revoked: 50_000), by: nil)])
    }

    /// What a hand does, and what is seen of it: whether balance, ledger and lots disagree.
    private static let damages: [(name: String, sql: String, balance: Int64, ledger: Int64, lots: Int64)] = [
        ("balance", "UPDATE granting.accounts SET balance = balance + 1 WHERE customer = CUSTOMER", 1, 0, 0),
        (
            "line",
            """
            INSERT INTO granting.ledger (customer, asset, direction, amount, balance_after, source_type, source_id,
                environment, cause) SELECT customer, asset, direction, amount, balance_after, source_type,
                source_id || '0', environment, cause FROM granting.ledger WHERE customer = CUSTOMER
            """, 0, 1, 0
        ),
        ("lot", "UPDATE granting.lots SET remaining = remaining - 1 WHERE customer = CUSTOMER", 0, 0, -1),
    ]

    @Test(arguments: damages.indices) func `what a hand has spoiled is seen, and nothing else (A-121 A-122)`(
        damage: Int
    ) async throws {
        let damage = Self.damages[damage]
        try await GrantingDatabase.with("books_\(damage.name)", Shop.definition()) { granting in
            var session = try granting.open()
            try Self.buy(&session)
            let honest = try Self.page(&session)
            #expect(honest.differences == [] && honest.customers == 5 && !honest.hasMore)
            #expect(honest.totals.reduce(0) { $0 + $1.accounts } >= 5)
            let customer = "(SELECT customer FROM granting.customers WHERE user_id = 'user3')"
            try granting.database.execute(damage.sql.replacing("CUSTOMER", with: customer))
            let spoiled = try Self.page(&session)
            let found = try #require(spoiled.differences.first)
            #expect(Set(spoiled.differences.map(\.customer)).count == 1)
            #expect((found.balance != min(found.ledger, found.lots)) == (damage.balance == 1 || damage.lots == -1))
            #expect((found.ledger > found.lots) == (damage.ledger == 1 || damage.lots == -1))
        }
    }

    @Test func `pages hold every customer once, whatever their size`() async throws {
        try await GrantingDatabase.with("books_pages", Shop.definition()) { granting in
            var session = try granting.open()
            try Self.buy(&session)
            for limit in 1...6 as ClosedRange<Int64> {
                var (after, seen, pages): (CustomerID?, Int64, Int) = (nil, 0, 0)
                while true {
                    let page = try Self.page(&session, after: after, limit: limit)
                    seen += page.customers
                    pages += 1
                    guard page.hasMore, pages < 20 else { break }
                    after = page.last
                }
                #expect(seen == 5, "of \(limit)")
            }
        }
    }

    @Test func `a purchase's own account: order, wallet, ledger and refund (A-123)`() async throws {
        try await GrantingDatabase.with("books_details", Shop.definition()) { granting in
            var session = try granting.open()
            try Self.buy(&session)
            let whole = try Self.details(&session, "1")
            #expect(whole.grantedAt != nil && whole.customer != nil && whole.appliedShare == 0)
            #expect(whole.amounts == whole.ledger && whole.amounts == whole.expected && !whole.amounts.isEmpty)
            #expect(whole.taken == [] && whole.refundedAt == nil)
            let half = try Self.details(&session, "2")
            #expect(half.revokedShare == 50_000 && half.appliedShare == 50_000)
            #expect(half.refundedAt != nil && half.refundProcessedAt != nil)
            #expect(half.taken.map { $0.amount * 2 } == half.amounts.map(\.amount))
            try granting.database.execute(
                """
                INSERT INTO granting.ledger (customer, asset, direction, amount, balance_after, source_type, source_id,
                    environment, cause) SELECT customer, asset, direction, amount, balance_after, source_type,
                    source_id || '0', environment, cause FROM granting.ledger WHERE source_id LIKE '1/%'
                """)
            let doubled = try Self.details(&session, "1")
            #expect(doubled.ledger.map(\.amount) == whole.ledger.map { $0.amount * 2 })
        }
    }
}
