import AMQP
import Testing

@testable import Drills

/// What judges the product under chaos must itself find what is wrong: each rule sees the mistake that it is for, and an
/// honest record passes all of them.
@Suite struct CheckerTests {
    private static let coins = Goods(id: "coins", asset: "COINS", amount: 60)

    /// Two purchases, one of them refunded by half, and two spends of anna's; one was sent twice.
    private static func record() -> Record {
        let record = Record()
        for id in ["1", "2"] {
            record.paid(id, Record.Purchase(user: "anna", environment: "Sandbox", product: coins))
            _ = record.answered(id, "GRANTED")
            record.finished(id)
        }
        _ = record.answered("1", "ALREADY_GRANTED")
        record.settled("2", percentage: 50)
        record.asked("s", spend(40, copies: 2))
        for _ in 0..<2 { record.decided("s", Record.Decision(code: "SPENT", balanceAfter: 80)) }
        record.asked("t", spend(500, isTooLarge: true))
        record.decided("t", Record.Decision(code: "BALANCE_NOT_ENOUGH", balanceAfter: 80))
        return record
    }

    private static func spend(_ amount: Int64, copies: Int = 1, isTooLarge: Bool = false) -> Record.Spend {
        Record.Spend(user: "anna", asset: "COINS", amount: amount, copies: copies, isTooLarge: isTooLarge)
    }

    private static func grant(
        _ id: String, user: String = "anna", product: String = "coins", environment: String = "Sandbox",
        quantity: Int64 = 1
    ) -> BooksCheck.Grant {
        BooksCheck.Grant(
            transactionID: id, environment: environment, user: user, productID: product, quantity: quantity)
    }

    /// The product's books as a test wants them.
    struct Books {
        var grants = [grant("1"), grant("2")]
        var spends: [String: (outcome: String, amount: Int64, balanceAfter: Int64)] = [
            "s": ("spent", 40, 80), "t": ("not_enough", 500, 80),
        ]
        var balances = ["anna": ["COINS": Int64(50)]]
        var debts: [BooksCheck.Debt] = []
    }

    /// The promises that are broken, each once.
    private static func broken(_ record: Record = record(), _ books: Books = Books()) -> Set<String> {
        let check = ShopCheck(record: record, findings: Findings())
        check.checkGrants(books.grants)
        check.checkAnswers(record.purchases)
        check.checkSpends(record.spends, books.spends)
        check.checkBalances(books.balances, record.purchases, record.spends, books.debts)
        return Set(check.findings.all.map(\.promise))
    }

    @Test func `honest books break no promise`() {
        #expect(Self.broken() == [])
    }

    @Test(arguments: [
        [grant("1"), grant("1"), grant("2")], [grant("1"), grant("2"), grant("3")],
        [grant("1"), grant("2", user: "eve")],
        [grant("1"), grant("2", product: "gold")], [grant("1"), grant("2", environment: "Production")],
        [grant("1"), grant("2", quantity: 2)],
    ])
    func `a grant twice, of nothing that was paid, or to somebody else is found (INV1)`(grants: [BooksCheck.Grant]) {
        #expect(Self.broken(Self.record(), Books(grants: grants)) == ["INV1"])
    }

    @Test func `a purchase that is not granted, not answered or not finished is found (INV2)`() {
        #expect(Self.broken(Self.record(), Books(grants: [Self.grant("1")])).contains("INV2"))
        let record = Self.record()
        record.paid("3", Record.Purchase(user: "anna", environment: "Sandbox", product: Self.coins))
        var books = Books()
        books.grants.append(Self.grant("3"))
        books.balances = ["anna": ["COINS": 110]]
        #expect(Self.broken(record, books) == ["INV2"], "nobody was answered")
        _ = record.answered("3", "GRANTED")
        #expect(Self.broken(record, books) == ["INV2"], "the store was not told")
        record.finished("3")
        #expect(Self.broken(record, books) == [])
        _ = record.answered("3", "GRANTED")
        #expect(Self.broken(record, books) == ["INV1"], "twice for the first time")
    }

    @Test func `a spend that was answered in two ways, not at all, or not as it is stored is found`() {
        var record = Self.record()
        record.decided("t", Record.Decision(code: "BALANCE_NOT_ENOUGH", balanceAfter: 80))
        #expect(Self.broken(record) == ["SPENDS"], "more answers than questions")
        record = Self.record()
        record.asked("u", Self.spend(10, copies: 2))
        record.decided("u", Record.Decision(code: "BALANCE_NOT_ENOUGH", balanceAfter: 5))
        record.decided("u", Record.Decision(code: "BALANCE_NOT_ENOUGH", balanceAfter: 6))
        var books = Books()
        books.spends["u"] = ("not_enough", 10, 5)
        #expect(Self.broken(record, books) == ["SPENDS"])
        for wrong in [("not_enough", 40, 80), ("spent", 41, 80), ("spent", 40, 79)] as [(String, Int64, Int64)] {
            var books = Books()
            books.spends["s"] = wrong
            #expect(Self.broken(Self.record(), books) == ["SPENDS"], "\(wrong)")
        }
        books = Books()
        books.spends["ghost"] = ("spent", 1, 1)
        #expect(Self.broken(Self.record(), books) == ["INV5"])
        record = Self.record()
        record.asked("v", Self.spend(500, isTooLarge: true))
        record.decided("v", Record.Decision(code: "SPENT", balanceAfter: 0))
        #expect(Self.broken(record).contains("SPENDS"), "no wallet holds so much")
    }

    @Test func `a balance that is not bought less refunded less spent plus owed is found (INV3)`() {
        #expect(Self.broken(Self.record(), Books(balances: ["anna": ["COINS": 80]])) == ["INV3"], "a refund not taken")
        #expect(Self.broken(Self.record(), Books(balances: ["anna": ["COINS": 50], "eve": ["COINS": 1]])) == ["INV3"])
        #expect(Self.broken(Self.record(), Books(balances: [:])) == ["INV3"])
        func owing(_ open: Int64, _ id: String = "2", balance: Int64) -> Books {
            Books(
                balances: ["anna": ["COINS": balance]],
                debts: [BooksCheck.Debt(user: "anna", asset: "COINS", transactionID: id, open: open)])
        }
        #expect(Self.broken(Self.record(), owing(20, balance: 70)) == [], "what a refund found spent is owed")
        #expect(Self.broken(Self.record(), owing(20, balance: 50)) == ["INV3"])
        #expect(Self.broken(Self.record(), owing(31, balance: 81)) == ["INV3"], "more than was refunded")
        #expect(Self.broken(Self.record(), owing(1, "1", balance: 51)) == ["INV3"], "of what was not refunded")
    }

    @Test func `ghosts, zombies, changed copies and foreign ids are found, repeated copies are none (INV6 INV8)`()
        throws
    {
        let fact = FactsCheck.Fact(type: "a.b", key: "k", revision: 0, cause: "c", body: "{}")
        let copy = FactsCheck.Copy(id: fact.id, type: "a.b", body: "{}")
        let endpoint = try AMQPEndpoint(url: "amqp://nobody:none@127.0.0.1:1/none")
        func broken(_ copies: [FactsCheck.Copy], _ stored: [String: FactsCheck.Fact]) -> [String] {
            let check = FactsCheck(broker: endpoint, findings: Findings())
            check.compare(copies, with: stored)
            return check.findings.all.map(\.promise)
        }
        #expect(broken([copy, copy], [fact.id: fact]) == [])
        #expect(broken([copy, FactsCheck.Copy(id: "x", type: "a.b", body: "{}")], [fact.id: fact]) == ["INV8"])
        #expect(broken([], [fact.id: fact]) == ["INV8"])
        #expect(broken([copy, FactsCheck.Copy(id: fact.id, type: "a.b", body: "{1}")], [fact.id: fact]) == ["INV6"])
        #expect(broken([FactsCheck.Copy(id: fact.id, type: "a.c", body: "{}")], [fact.id: fact]) == ["INV6"])
        #expect(broken([FactsCheck.Copy(id: "x", type: "a.b", body: "{}")], ["x": fact]) == ["INV6"])
    }
}
