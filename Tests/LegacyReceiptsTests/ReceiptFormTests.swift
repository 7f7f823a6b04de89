import AppStore
import AppStoreSimulation
import Crypto
import JOSE
import LegacyReceipts
import Testing

/// The forms that receipts come in, and what they say.
@Suite struct ReceiptFormTests {
    struct Variant: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var form = ReceiptSigner.Form()
        init(_ name: String, _ change: (inout ReceiptSigner.Form) -> Void) {
            testDescription = name
            change(&form)
        }
    }

    static let variants = [
        Variant("as Apple writes today") { _ in },
        Variant("SHA-1") { $0.digest = .sha1 },
        Variant("signed attributes") { $0.hasSignedAttributes = true },
        Variant("signed attributes with SHA-1") { ($0.hasSignedAttributes, $0.digest) = (true, .sha1) },
        Variant("indefinite lengths, content in pieces") { $0.isIndefinite = true },
        Variant("the content wrapped twice") { $0.isWrappedTwice = true },
        Variant("everything at once") {
            ($0.isIndefinite, $0.isWrappedTwice, $0.hasSignedAttributes, $0.digest) = (true, true, true, .sha1)
        },
    ]

    @Test(arguments: variants) func `every form says the same (C-050)`(variant: Variant) throws {
        let world = try World()
        let many = (0..<187).map { World.purchase("\(1_000 + $0)") }
        var receipt = World.receipt()
        receipt.purchases = many
        let verified = try world.verifier.verify(world.signer.sign(receipt, variant.form), now: World.now)
        #expect(verified.receipt.purchases.count == 187)
        #expect(verified.receipt.bundleID == World.bundleID)
        #expect(verified.receipt.creationDate == World.now - 1_000)
        #expect(verified.appID == "game")
    }

    @Test func `an old chain signed with SHA-1 is accepted at its date (C-050)`() throws {
        let old = try ReceiptAuthority.generate(
            digest: .sha1, validity: .init(notBefore: 1_400_000_000, notAfter: 1_675_000_000))
        let world = try World(authority: old)
        var receipt = World.receipt()
        receipt.creationDate = 1_600_000_000_000
        var form = ReceiptSigner.Form()
        form.digest = .sha1
        #expect(try world.refusal(world.signer.sign(receipt, form)) == nil)
        receipt.creationDate = 1_700_000_000_000
        #expect(try world.refusal(world.signer.sign(receipt, form))?.reason == .chainTime)
    }

    @Test func `every documented field is read (C-056 C-059 C-060)`() throws {
        let world = try World()
        var purchase = World.purchase()
        purchase.quantity = 3
        purchase.originalTransactionID = "1000000000"
        purchase.cancellationDate = World.now - 5_000
        purchase.expiresDate = World.now + 86_400_000
        purchase.overrides = [
            (1711, DER.integer(9_007_199_254_740_993)), (1719, DER.integer(1)), (1720, DER.integer(1)),
            (1799, DER.integer(1)),
        ]
        var receipt = World.receipt(purchase)
        receipt.receiptType = "ProductionVPP"
        receipt.appItemID = 1_234
        receipt.overrides = [(15, DER.integer(77)), (21, DER.ia5("2030-01-01T00:00:00Z")), (99, DER.utf8("new"))]
        let verified = try world.verifier.verify(world.signer.sign(receipt), now: World.now)
        #expect(verified.environment == .production)
        #expect(verified.receipt.appItemID == 1_234)
        #expect(verified.receipt.downloadID == 77)
        #expect(verified.receipt.expirationDate == 1_893_456_000_000)
        #expect(verified.receipt.unknownAttributes == [99])
        #expect(verified.receipt.opaqueValue?.count == 16)
        #expect(verified.receipt.preorderDate == nil)
        let read = try #require(verified.receipt.purchases.first)
        #expect(read.quantity == 3)
        #expect(read.productID == "gems_60")
        #expect(read.transactionID == "1000000001")
        #expect(read.originalTransactionID == "1000000000")
        #expect(read.purchaseDate == World.now - 60_000)
        #expect(read.cancellationDate == World.now - 5_000)
        #expect(read.expiresDate == World.now + 86_400_000)
        #expect(read.webOrderLineItemID == 9_007_199_254_740_993)
        #expect(read.isInIntroOfferPeriod)
        #expect(!read.isTrialPeriod)
        #expect(read.cancellationReason == 1)
        #expect(read.unknownAttributes == [1799])
    }

    @Test func `the purchases of a product are found, each once (C-056 C-058)`() throws {
        let world = try World()
        let receipt = World.receipt(
            World.purchase("1"), World.purchase("2", "gems_360"), World.purchase("3"), World.purchase("1"))
        let verified = try world.verifier.verify(world.signer.sign(receipt), now: World.now)
        #expect(verified.purchases(of: "gems_60").map(\.transactionID) == ["1", "3"])
        #expect(verified.purchases(of: "gems_1200").isEmpty)
    }

    @Test func `a receipt without purchases is a good one`() throws {
        let world = try World()
        var receipt = World.receipt()
        receipt.purchases = []
        let verified = try world.verifier.verify(world.signer.sign(receipt), now: World.now)
        #expect(verified.receipt.purchases.isEmpty)
    }

    @Test func `clients may send base64, broken lines, or Unity's JSON around it (C-024)`() throws {
        let world = try World()
        let bytes = try world.signer.sign(World.receipt())
        let text = Base64.encode(bytes)
        let lines = stride(from: 0, to: text.utf8.count, by: 64).map { place in
            String(decoding: Array(text.utf8.dropFirst(place).prefix(64)), as: UTF8.self)
        }.joined(separator: "\r\n")
        let unity = "{\"Store\":\"AppleAppStore\",\"TransactionID\":\"1\",\"Payload\":\"\(text)\"}"
        for sent in [text, "  \(text)\n", lines, unity] {
            #expect(try ReceiptText(Array(sent.utf8)) == .receipt(bytes))
        }
        #expect(
            try ReceiptText(Array("eyJhbGciOiJFUzI1NiJ9.e30.AA".utf8))
                == .signedTransaction(Array("eyJhbGciOiJFUzI1NiJ9.e30.AA".utf8)))
    }

    @Test func `the simulator's receipts stand under the root that signs its transactions`() throws {
        let authority = try SimulatedAuthority.generate(withReceipts: true)
        let receipts = try #require(authority.receipts)
        let verifier = try ReceiptVerifier(apps: [World.app], roots: [authority.root])
        let bytes = try ReceiptSigner(receipts).sign(World.receipt())
        #expect(try verifier.verify(bytes, now: World.now).receipt.purchases.count == 1)
    }
}
