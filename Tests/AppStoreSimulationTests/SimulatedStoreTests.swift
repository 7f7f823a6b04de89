import AppStore
import AppStoreSimulation
import Crypto
import Glibc
import JOSE
import JSON
import TestSupport
import Testing

@Suite struct SimulatedStoreTests {
    private static func payload(_ purchase: SignedPurchase) throws -> JSONObject {
        let parts = try CompactJWS(Array(purchase.signedTransactionInfo.utf8))
        return try JSONReader.parseObject(try parts.decodePayload())
    }

    private static func request(_ change: (inout PurchaseRequest) -> Void = { _ in }) -> PurchaseRequest {
        var request = PurchaseRequest(
            bundleID: "com.example.app", productID: "coins", appleAccount: "anna",
            appAccountToken: "550E8400-E29B-41D4-A716-446655440000")
        change(&request)
        return request
    }

    private static func bought(_ result: PurchaseResult) throws -> SignedPurchase {
        guard case .purchased(let purchase) = result else { throw UnexpectedResult() }
        return purchase
    }

    private struct UnexpectedResult: Error {}

    @Test func `a purchase is signed by the store's authority and has Apple's fields`() async throws {
        let folder = try TemporaryFolder()
        try await onThread {
            var store = try SimulatedStore.open(in: folder.path, now: { 1_800_000_000_000 })
            let purchase = try Self.bought(try store.purchase(Self.request { $0.quantity = 3 }))
            let payload = try Self.payload(purchase)
            #expect(payload["transactionId"] == .string(purchase.transactionID))
            #expect(payload["appAccountToken"] == "550e8400-e29b-41d4-a716-446655440000")
            #expect(payload["quantity"] == 3)
            #expect(payload["purchaseDate"] == 1_800_000_000_000)
            let parts = try CompactJWS(Array(purchase.signedTransactionInfo.utf8))
            let signature = try parts.decodeSignature()
            let key = try store.signer.authority.leafKey.publicKey()
            #expect(key.isValidSignature(signature, for: Array(parts.signingInput)))
        }
    }

    @Test func `transaction ids are digits, above 2 to the 53, different and growing`() async throws {
        let folder = try TemporaryFolder()
        try await onThread {
            var store = try SimulatedStore.open(in: folder.path)
            var last: Int64 = 1 << 53
            for _ in 0..<20 {
                let purchase = try Self.bought(try store.purchase(Self.request()))
                let id = try #require(Int64(purchase.transactionID))
                #expect(id > last)
                last = id
            }
        }
    }

    @Test func `any field can be set, also to nonsense`() async throws {
        let folder = try TemporaryFolder()
        try await onThread {
            var store = try SimulatedStore.open(in: folder.path)
            let purchase = try Self.bought(
                try store.purchase(
                    Self.request { $0.fields = ["environment": "Xcode", "transactionId": "42", "price": "cheap"] }))
            let payload = try Self.payload(purchase)
            #expect(payload["environment"] == "Xcode")
            #expect(payload["price"] == "cheap")
            #expect(purchase.transactionID == "42")
            #expect(throws: StoreError.transactionExists) {
                try store.purchase(Self.request { $0.fields = ["transactionId": "42"] })
            }
        }
    }

    @Test func `what was said survives a restart: transactions, finished ones, approvals, the authority`() async throws
    {
        let folder = try TemporaryFolder()
        try await onThread {
            var store = try SimulatedStore.open(in: folder.path)
            let first = try Self.bought(try store.purchase(Self.request()))
            let second = try Self.bought(try store.purchase(Self.request()))
            try store.finish(first.transactionID, environment: "Production")
            guard case .pending(let id) = try store.purchase(Self.request { $0.needsApproval = true }) else {
                throw UnexpectedResult()
            }
            // What a crash in the middle of a write leaves behind means nothing.
            let rest = folder.path + "/transactions/Production-1.json.new"
            close(open(rest, O_CREAT | O_WRONLY, 0o600))

            var again = try SimulatedStore.open(in: folder.path)
            #expect(again.signer.authority.root.der == store.signer.authority.root.der)
            let unfinished = try again.unfinished(appleAccount: "anna", environment: "Production")
            #expect(unfinished.map(\.transactionID) == [second.transactionID])
            #expect(try again.transaction(first.transactionID, environment: "Production").isFinished)
            let approved = try #require(try again.decide(pendingID: id, isApproved: true))
            let ids = try [first, second, approved].map { try #require(Int64($0.transactionID)) }
            #expect(ids == ids.sorted() && Set(ids).count == 3)
        }
    }

    @Test func `environments and accounts are separate books`() async throws {
        let folder = try TemporaryFolder()
        try await onThread {
            var store = try SimulatedStore.open(in: folder.path)
            let sandbox = try Self.bought(try store.purchase(Self.request { $0.environment = "Sandbox" }))
            _ = try store.purchase(Self.request { $0.appleAccount = "bert" })
            #expect(try store.unfinished(appleAccount: "anna", environment: "Production").isEmpty)
            #expect(try store.unfinished(appleAccount: "anna", environment: "Sandbox").count == 1)
            #expect(throws: StoreError.unknownTransaction) {
                try store.finish(sandbox.transactionID, environment: "Production")
            }
        }
    }

    @Test func `refunds are newer statements, a share at a time, and can be taken back`() async throws {
        let folder = try TemporaryFolder()
        try await onThread {
            // A clock that stands still: statements are still told apart by their date.
            var store = try SimulatedStore.open(in: folder.path, now: { 1_800_000_000_000 })
            let id = try Self.bought(try store.purchase(Self.request())).transactionID
            var dates: [Int64] = []
            for (percentage, type) in [(40, "REFUND_PRORATED"), (100, "REFUND_FULL"), (0, nil)] as [(Int64, String?)] {
                let payload = try Self.payload(
                    try store.refund(id, environment: "Production", percentage: percentage))
                #expect(payload["revocationType"]?.stringValue == type)
                #expect(payload["revocationPercentage"]?.intValue == (percentage == 0 ? nil : percentage * 1_000))
                #expect((payload["revocationDate"] == nil) == (percentage == 0))
                dates.append(try payload.int64("signedDate"))
            }
            #expect(dates == dates.sorted() && Set(dates).count == 3 && dates[0] > 1_800_000_000_000)
        }
    }

    @Test func `a parent may decline, and nothing decides twice (A-103)`() async throws {
        let folder = try TemporaryFolder()
        try await onThread {
            var store = try SimulatedStore.open(in: folder.path)
            guard case .pending(let id) = try store.purchase(Self.request { $0.needsApproval = true }) else {
                throw UnexpectedResult()
            }
            #expect(try store.unfinished(appleAccount: "anna", environment: "Production").isEmpty)
            #expect(try store.decide(pendingID: id, isApproved: false) == nil)
            #expect(throws: StoreError.unknownPending) { try store.decide(pendingID: id, isApproved: true) }
        }
    }

    @Test(arguments: [
        (#"{}"#, "bundleId"), (#"{"bundleId":"a","productId":"b","appleAccount":""}"#, "appleAccount"),
        (#"{"bundleId":"a","productId":"b","appleAccount":"c","quantity":11}"#, "quantity"),
        (#"{"bundleId":"a","productId":"b","appleAccount":"c","quantity":1.0}"#, "quantity"),
        (#"{"bundleId":"a","productId":"b","appleAccount":"c","environment":"Xcode"}"#, "environment"),
        (#"{"bundleId":"a","productId":"b","appleAccount":"c","appAccountToken":"user-7"}"#, "appAccountToken"),
        (#"{"bundleId":"a","productId":"b","appleAccount":"c","product":"b"}"#, "body"),
    ])
    func `a wrong purchase is refused and the field is named`(body: String, field: String) throws {
        let object = try JSONReader.parseObject(Array(body.utf8))
        let error = #expect(throws: StoreError.self) { try PurchaseRequest(object) }
        guard case .invalid(let named, _) = error else {
            Issue.record("not an invalid request: \(String(describing: error))")
            return
        }
        #expect(named == field)
    }

    @Test func `a request survives its JSON`() throws {
        let request = Self.request {
            $0.fields = ["price": 1]
            $0.needsApproval = true
            $0.environment = "Sandbox"
        }
        #expect(try PurchaseRequest(request.json) == request)
    }
}
