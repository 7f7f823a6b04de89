import AppStore
import AppStoreSimulation
import Crypto
import JOSE
import LegacyReceipts
import Testing

/// Attacks on receipts, and what mistaken clients send.
@Suite struct ReceiptThreatTests {
    @Test func `an authority with the same names is a stranger (S02)`() throws {
        let world = try World()
        let foreign = try ReceiptAuthority.generate()
        #expect(try world.refusal(ReceiptSigner(foreign).sign(World.receipt()))?.reason == .chainUntrusted)
        // Its own leaf under our intermediate's name, and our certificates beside it.
        var form = ReceiptSigner.Form()
        form.certificates = [world.authority.intermediate, world.authority.root]
        #expect(try world.refusal(ReceiptSigner(foreign).sign(World.receipt(), form))?.reason == .chainUntrusted)
        // Our leaf named as the signer, another key's signature.
        let thief = ReceiptAuthority(
            root: world.authority.root, intermediate: world.authority.intermediate, leaf: world.authority.leaf,
            key: foreign.key)
        #expect(try world.refusal(ReceiptSigner(thief).sign(World.receipt()))?.reason == .signature)
    }

    @Test(arguments: [SimulatedAuthority.Storey.leaf, .intermediate])
    func `a certificate without Apple's mark signs no receipts (S04)`(storey: SimulatedAuthority.Storey) throws {
        let marker = storey == .leaf ? ChainVerifier.leafMarker : ChainVerifier.intermediateMarker
        let unmarked = try ReceiptAuthority.generate { place, builder in
            if place == storey { builder.extensions.removeAll { $0.identifier == marker } }
        }
        let world = try World(authority: unmarked)
        #expect(try world.refusal(world.signer.sign(World.receipt()))?.reason == .chainOID)
    }

    @Test func `the intermediate must come along, and nothing longer than three is a chain (S03)`() throws {
        let world = try World()
        var form = ReceiptSigner.Form()
        form.certificates = []
        #expect(try world.refusal(world.signer.sign(World.receipt(), form))?.reason == .chainUntrusted)
        form.certificates = [world.authority.root]
        #expect(try world.refusal(world.signer.sign(World.receipt(), form))?.reason == .chainUntrusted)
        form.certificates = Array(repeating: world.authority.intermediate, count: 10)
        #expect(try world.refusal(world.signer.sign(World.receipt(), form))?.reason == .tooLarge)
        form.certificates = [world.authority.intermediate]
        #expect(try world.refusal(world.signer.sign(World.receipt(), form)) == nil)
    }

    @Test func `certificates are judged when the receipt was made, not now (S05)`() throws {
        let created = World.now / 1_000 - 1
        let ended = try ReceiptAuthority.generate(
            validity: .init(notBefore: created - 86_400, notAfter: created + 3_600))
        let world = try World(authority: ended)
        let later = World.now + 5 * 365 * 86_400_000
        #expect(try world.refusal(world.signer.sign(World.receipt()), now: later) == nil)
        var receipt = World.receipt()
        receipt.creationDate += 2 * 3_600_000
        #expect(try world.refusal(world.signer.sign(receipt), now: later)?.reason == .chainTime)
        receipt.creationDate = World.now - 3 * 86_400_000
        #expect(try world.refusal(world.signer.sign(receipt), now: later)?.reason == .chainTime)
    }

    @Test func `a receipt of the future waits, one of before the App Store is refused`() throws {
        let world = try World()
        var receipt = World.receipt()
        receipt.creationDate = World.now + 299_000
        #expect(try world.refusal(world.signer.sign(receipt)) == nil)
        receipt.creationDate = World.now + 301_000
        let failure = try world.refusal(world.signer.sign(receipt))
        #expect(failure?.reason == .signedDateInFuture)
        #expect(failure?.isRetryable == true)
        receipt.creationDate = 1_000_000_000_000
        #expect(try world.refusal(world.signer.sign(receipt))?.reason == .payloadField)
    }

    @Test func `another app's receipt is refused, however genuine (C-057)`() throws {
        let world = try World()
        var receipt = World.receipt()
        receipt.bundleID = "com.example.game2"
        #expect(try world.refusal(world.signer.sign(receipt))?.reason == .appMismatch)
        receipt = World.receipt()
        receipt.appItemID = 4_321
        #expect(try world.refusal(world.signer.sign(receipt)) == nil, "the sandbox's number says nothing")
        receipt.receiptType = "Production"
        #expect(try world.refusal(world.signer.sign(receipt))?.reason == .appMismatch)
    }

    @Test(arguments: ["Xcode", "production", "Sandbox", "ProductionX"])
    func `only the four kinds of receipts that Apple signs are accepted`(type: String) throws {
        let world = try World()
        var receipt = World.receipt()
        receipt.receiptType = type
        // `Sandbox` is the environment's name, no receipt's: it must not pass by accident.
        #expect(try world.refusal(world.signer.sign(receipt))?.reason == .environmentMismatch)
    }

    @Test func `a field of another type, out of range or missing is named`() throws {
        let world = try World()
        let bad: [(number: Int64, value: [UInt8], field: String)] = [
            (1701, DER.integer(0), "quantity"), (1701, DER.integer(101), "quantity"),
            (1701, DER.integer(-1), "quantity"),
            (1701, DER.utf8("1"), "quantity"), (1701, DER.element(0x02, [UInt8](repeating: 1, count: 9)), "quantity"),
            (1701, DER.element(0x02, []), "quantity"), (1702, [], "product_id"),
            (1702, DER.utf8("a\u{0}b"), "product_id"),
            (1702, DER.element(0x0C, [0xFF]), "product_id"), (1702, DER.integer(1), "product_id"),
            (1703, DER.utf8(""), "transaction_id"), (1703, DER.utf8("12 or 1=1"), "transaction_id"),
            (1703, DER.utf8(String(repeating: "1", count: 21)), "transaction_id"),
            (1704, DER.ia5("yesterday"), "purchase_date"), (1704, DER.ia5("2026-02-30T00:00:00Z"), "purchase_date"),
            (1704, DER.ia5("2026-11-30T00:00:00Z") + [0], "purchase_date"),
            (1712, DER.ia5("2026-13-01T00:00:00Z"), "cancellation_date"),
        ]
        for (number, value, field) in bad {
            var purchase = World.purchase()
            purchase.overrides = [(number, value)]
            let failure = try world.refusal(world.signer.sign(World.receipt(World.purchase(), purchase)))
            #expect(failure?.reason == .payloadField || failure?.reason == .format, "\(field): \(value)")
            if failure?.reason == .payloadField { #expect(failure?.field == "in_app[1].\(field)") }
        }
        var receipt = World.receipt()
        for (number, name) in [(Int64(0), "receipt_type"), (2, "bundle_id"), (12, "receipt_creation_date")] {
            receipt.overrides = [(number, [])]
            #expect(try world.refusal(world.signer.sign(receipt))?.field == name)
        }
    }

    @Test func `the first of two attributes with one number counts`() throws {
        let world = try World()
        var purchase = World.purchase()
        purchase.overrides = [(1701, DER.integer(2)), (1701, DER.integer(9))]
        let verified = try world.verifier.verify(world.signer.sign(World.receipt(purchase)), now: World.now)
        #expect(verified.receipt.purchases.first?.quantity == 2)
    }

    @Test func `what mistaken clients send is called by its name (C-050)`() throws {
        let world = try World()
        let text = Base64.encode(try world.signer.sign(World.receipt()))
        let mistakes = [
            (Base64.encode(Array(text.utf8)), "base64 of base64"), ("", "empty"), ("   \n", "empty"),
            ("%%%", "not base64"),
            (Base64.encode(Array("eyJhbGciOiJFUzI1NiJ9.e30.AA".utf8)), "base64 of a signed transaction"),
            (Base64.encode(Array("{\n\t\"signature\" = \"AA\";".utf8)), "transaction receipt of iOS 6"),
            ("{\"Store\":\"GooglePlay\",\"Payload\":\"{}\"}", "another store"),
            ("{\"Store\":\"fake\"}", "another store"),
            ("{\"Payload\":1}", "Payload"), ("{", "Unity"), (Base64.encode([1, 2, 3]), "no receipt"),
            (String(text.dropLast(2)), "not base64"),
        ]
        for (sent, words) in mistakes {
            let failure = World.refusal(text: sent)
            #expect(failure?.reason == .format, "\(words)")
            #expect(failure?.description.contains(words) == true, "\(failure.map { "\($0)" } ?? "accepted"), \(words)")
        }
    }

    @Test func `too much is refused by its size alone (S10)`() {
        let failure = World.refusal(text: String(repeating: "A", count: ReceiptText.maximumCharacters + 1))
        #expect(failure?.reason == .tooLarge)
        let bytes = [UInt8](repeating: 0x30, count: ReceiptText.maximumBytes + 1)
        #expect((try? World())?.refusal(bytes)?.reason == .tooLarge)
    }

    @Test func `no truncation, no bomb and no noise is more than refused (S10)`() throws {
        let world = try World()
        let bytes = try world.signer.sign(World.receipt())
        for length in 0..<bytes.count { #expect(world.refusal(Array(bytes.prefix(length))) != nil) }
        #expect(world.refusal(bytes + [0])?.reason == .format)
        let levels = [UInt8](repeating: 0, count: 1 << 19)
        let bombs: [[UInt8]] = [
            Array([[UInt8]](repeating: [0x30, 0x80], count: 1 << 19).joined()),
            Array([[UInt8]](repeating: [0x24, 0x80], count: 31).joined()) + levels,
            [0x30, 0x84, 0x7F, 0xFF, 0xFF, 0xFF] + levels, [0x30, 0x89] + levels, [0x1F, 0x81] + levels,
        ]
        for bomb in bombs { #expect(world.refusal(bomb)?.reason == .format) }
        // A content nested deeply, signed by its own stranger.
        for bomb in bombs { #expect(try world.refusal(world.signer.sign(content: bomb)) != nil) }
    }
}
