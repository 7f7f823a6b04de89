import Messages
import Pipeline
import TestSupport
import Testing

@testable import Granting

/// Purchases that receipts of before StoreKit 2 bring.
@Suite struct ReceiptTests {
    /// What a receipt says of a purchase: no type, no token.
    private static func receipt(
        _ id: String, _ product: ProductID = Shop.coins60, quantity: Int64 = 1, signed: Int64 = 0,
        revoked: Bool = false, hash: String = "aa"
    ) -> VerifiedTransaction {
        var statement = transaction(
            id, product, type: "", quantity: quantity, signed: signed,
            hash: VerifiedTransaction.receiptMark + hash)
        statement.revocationDate = revoked ? Shop.day + signed : nil
        return statement
    }

    private static func message(_ transactions: [VerifiedTransaction], by user: String = "alice") throws -> Incoming {
        var body = PurchaseVerified(
            app: Shop.app, userID: UserID(user), orderNumber: nil, transaction: transactions[0])
        body.others = Array(transactions.dropFirst())
        return try GrantingTests.message(body)
    }

    @Test func `every purchase of a receipt is delivered once, in one go, with one answer (C-056 C-059 C-061)`()
        async throws
    {
        try await GrantingDatabase.with("receipt") { granting in
            var session = try granting.open()
            let three = [Self.receipt("1"), Self.receipt("2", quantity: 3), Self.receipt("3", revoked: true)]
            let first = try session.run(GrantPurchases(), [try Self.message(three)])
            let answer = try #require(try first[0].answer(PurchaseAnswered.self))
            #expect(answer.status == .granted && answer.mayFinish)
            #expect(answer.amounts == [AssetAmount(asset: Shop.coins, amount: 240)])
            #expect(answer.balances == [AssetAmount(asset: Shop.coins, amount: 240)])
            #expect(answer.transactionIDs == [TransactionID("1"), TransactionID("2")])
            #expect(first[0].facts.map(\.type) == [.purchaseGranted, .purchaseGranted, .purchaseNoted])
            // The same receipt with one purchase more: only that is delivered.
            let again = try session.run(
                GrantPurchases(), [try Self.message(three), try Self.message(three + [Self.receipt("4")])])
            #expect(try again[0].answer(PurchaseAnswered.self)?.status == .alreadyGranted)
            let more = try #require(try again[1].answer(PurchaseAnswered.self))
            #expect(more.status == .granted)
            #expect(more.amounts == [AssetAmount(asset: Shop.coins, amount: 60)])
            #expect(more.balances == [AssetAmount(asset: Shop.coins, amount: 300)])
            #expect(try granting.imbalances() == [])
            #expect(try granting.rows("SELECT * FROM granting.grants").count == 3)
            #expect(
                try granting.rows(
                    "SELECT * FROM granting.transactions WHERE payload_hash LIKE 'receipt:%' AND product_type = 'Consumable'"
                )
                .count == 4, "the catalogue told the type")
        }
    }

    @Test func `what belongs to another customer is passed over, as long as one is the caller's (C-063)`() async throws
    {
        try await GrantingDatabase.with("receipt_shared") { granting in
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [try Self.message([Self.receipt("1")], by: "bob")])
            let shared = try session.run(
                GrantPurchases(), [try Self.message([Self.receipt("1"), Self.receipt("2")])])
            let answer = try #require(try shared[0].answer(PurchaseAnswered.self))
            #expect(answer.status == .granted)
            #expect(answer.transactionIDs == [TransactionID("2")])
            #expect(answer.balances == [AssetAmount(asset: Shop.coins, amount: 60)])
            let foreign = try session.run(GrantPurchases(), [try Self.message([Self.receipt("1")])])
            let refusal = try #require(try foreign[0].answer(PurchaseAnswered.self))
            #expect(refusal.code == .transactionAlreadyBound && !refusal.mayFinish && refusal.amounts.isEmpty)
        }
    }

    @Test func `a purchase that waits makes the whole receipt wait (C-058)`() async throws {
        try await GrantingDatabase.with("receipt_waits") { granting in
            var session = try granting.open()
            let outcomes = try session.run(
                GrantPurchases(),
                [try Self.message([Self.receipt("1"), Self.receipt("2", ProductID("never_heard_of"))])])
            let answer = try #require(try outcomes[0].answer(PurchaseAnswered.self))
            #expect(answer.status == .held && answer.code == .unknownAppleProductID && !answer.mayFinish)
            #expect(try granting.rows("SELECT * FROM granting.grants").count == 1, "the other one is delivered")
        }
    }

    @Test func `receipts and signed transactions end in one state, in every order they come (C-060 R07)`() {
        let statements = [
            transaction("1", token: Shop.aliceToken, signed: 10, hash: "01"), Self.receipt("1", signed: 20),
            Self.receipt("1", signed: 30, revoked: true), Self.receipt("1", signed: 40),
        ]
        let ends = Self.orders(of: statements).map { Self.end($0) }
        #expect(Set(ends.map(\.0)) == [VerifiedTransaction.wholeShare], "a receipt sets a revocation, and clears none")
        #expect(Set(ends.map(\.1)) == [Shop.aliceToken], "and never replaces a signed transaction")
        let reversed = statements + [transaction("1", token: Shop.aliceToken, signed: 50, hash: "02")]
        #expect(Set(Self.orders(of: reversed).map { Self.end($0).0 }) == [0], "a newer signed transaction clears it")
    }

    private static func end(_ statements: [VerifiedTransaction]) -> (Int64, String?) {
        var purchase = Purchase(statement: statements[0], app: Shop.app)
        for statement in statements.dropFirst() { _ = purchase.adopt(statement) }
        return (purchase.statement.revokedShare, purchase.statement.appAccountToken)
    }

    private static func orders(of statements: [VerifiedTransaction]) -> [[VerifiedTransaction]] {
        guard statements.count > 1 else { return [statements] }
        return statements.indices.flatMap { first in
            var rest = statements
            let taken = rest.remove(at: first)
            return orders(of: rest).map { [taken] + $0 }
        }
    }
}
