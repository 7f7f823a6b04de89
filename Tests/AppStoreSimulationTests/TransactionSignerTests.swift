import AppStore
import JOSE
import JSON
import Testing

@testable import AppStoreSimulation

@Suite struct TransactionSignerTests {
    @Test func `every field of a transaction can be set, added and overridden`() throws {
        var transaction = SimulatedTransaction(
            transactionID: "5", bundleID: nil, productID: "p", purchaseDate: 1_796_083_200_000)
        transaction.revocationDate = 1_796_083_300_000
        transaction.revocationPercentage = 50_000
        transaction.overrides = ["quantity": "many", "newField": true, "price": nil]
        let json = transaction.json
        #expect(json["bundleId"] == nil)
        #expect(json["originalTransactionId"] == "5")
        #expect(json["revocationPercentage"] == 50_000)
        #expect(json["quantity"] == "many")
        #expect(json["newField"] == true)
        #expect(json["price"] == .null)
    }

    @Test func `bytes no JSON writer would write can be signed`() throws {
        let signer = TransactionSigner(try SimulatedAuthority.generate())
        let payload = Array(#"{"a":1,"a":2}"#.utf8)
        #expect(try CompactJWS(signer.sign(payload: payload)).decodePayload() == payload)
    }

    @Test func `the twin of a twin is the first text again`() throws {
        let signer = TransactionSigner(try SimulatedAuthority.generate())
        let jws = try signer.sign(payload: [123, 125])
        let twin = try #require(TransactionSigner.malleableTwin(of: jws))
        #expect(twin != jws)
        #expect(TransactionSigner.malleableTwin(of: twin) == jws)
        #expect(TransactionSigner.malleableTwin(of: [1, 2, 3]) == nil)
    }
}
