import Messages
import Observability
import Pipeline
import Synchronization
import Testing

@testable import Granting

/// What Granting logs of refunds (document C).
@Suite struct RefundLineTests {
    private static func lines(of message: some Message) throws -> [String] {
        let header = MessageHeader(
            id: MessageID("00000000-0000-4000-8000-000000000001"), type: .notificationReceived, version: 1,
            occurredAt: 0, correlationID: "c-1")
        let fact = try Fact(
            message, key: "Production/2000", revision: 1, app: AppID("clouds"), environment: .production,
            causedBy: header, occurredAt: 0)
        let collected = Lines()
        RefundLines.write(fact, Logger(service: "test", write: { collected.add($0) }))
        return collected.all
    }

    /// Keeps lines.
    private final class Lines: Sendable {
        private let kept = Mutex<[String]>([])
        var all: [String] { kept.withLock { $0 } }
        func add(_ bytes: [UInt8]) { kept.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) } }
    }

    private static func clawback(taken: Int64, owed: Int64) -> PurchaseClawedBack {
        let gem = AssetID("GEM")
        return PurchaseClawedBack(
            customer: CustomerID("7"), transactionID: TransactionID("2000"), revokedShare: 100_000, revision: 1,
            taken: [AssetAmount(asset: gem, amount: taken)], owed: [AssetAmount(asset: gem, amount: owed)], balances: []
        )
    }

    @Test(arguments: [(Int64(40), Int64(20), "Refund", 60), (-60, 0, "RefundReversed", 60)])
    func `a refund is a line with customer, transaction and amount, debt included (C-113)`(
        _ taken: Int64, _ owed: Int64, _ event: String, _ amount: Int
    ) throws {
        let lines = try Self.lines(of: Self.clawback(taken: taken, owed: owed))
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        for part in [
            #""message":"\#(event)""#, #""amount":\#(amount)"#, #""asset":"GEM""#, #""customer.id":"7""#,
            #""transaction.id":"2000""#, #""correlation.id":"c-1""#, #""app":"clouds""#,
        ] {
            #expect(line.contains(part), "\(part)")
        }
    }

    @Test func `what moves nothing and other facts leave no line`() throws {
        #expect(try Self.lines(of: Self.clawback(taken: 0, owed: 0)).isEmpty)
        #expect(try Self.lines(of: Self.clawback(taken: 60, owed: -60)).isEmpty)
        let order = OrderCreated(
            customer: CustomerID("7"), orderNumber: OrderNumber("x"), productID: ProductID("p"), appAccountToken: "t",
            expiresAt: 0)
        #expect(try Self.lines(of: order).isEmpty)
    }
}
