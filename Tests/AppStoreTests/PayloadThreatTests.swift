import AppStoreSimulation
import Crypto
import JSON
import Testing

@testable import AppStore

/// Attacks inside the payload: signed by the right key, and still not to be believed blindly.
@Suite struct PayloadThreatTests {
    @Test(arguments: [
        #"{"bundleId":"com.example.game","bundleId":"com.example.other","transactionId":"1","environment":"Production"}"#,
        #"{"transactionId":"1","environment":"Production"}x"#, #"{"transactionId":"1"} {}"#, #"[]"#, #"null"#, "{",
        #"{"transactionId":"1\u0000"}"#, #"{"transactionId":"\ud800"}"#, "\u{FEFF}{}",
        #"{"a":{"b":1,"b":2},"transactionId":"1"}"#,
    ])
    func `JSON that two readers could read differently is refused (S10)`(payload: String) throws {
        var world = try World()
        #expect(try world.refusal(payload: payload) == .format)
    }

    @Test func `invalid UTF-8 is refused, unusual names are only names (S10)`() throws {
        var world = try World()
        let start = Array(#"{"transactionId":"1","productId":""#.utf8)
        let jws = try world.signer.sign(payload: start + [0xc3, 0x28] + Array("\"}".utf8))
        #expect(world.refusal(jws) == .format)
        #expect(try world.refusal(["__proto__": ["bundleId": "com.example.other"]]) == nil)
    }

    /// Field, JSON text of its value, whether a transaction with it is accepted.
    static let numbers: [(String, String, Bool)] = [
        ("quantity", "1", true), ("quantity", "100", true), ("quantity", "0", false), ("quantity", "-1", false),
        ("quantity", "101", false), ("quantity", "1.0", false), ("quantity", "1e1", false), ("quantity", "1.5", false),
        ("quantity", "\"1\"", false), ("quantity", "true", false), ("quantity", "null", true),
        ("quantity", "9223372036854775808", false), ("quantity", "1e400", false),
        ("price", "9223372036854775807", true), ("price", "9007199254740993", true), ("price", "-1", true),
        ("price", "9223372036854775808", false), ("price", "0.99", false), ("price", "1e3", false),
        ("revocationPercentage", "0", true), ("revocationPercentage", "100000", true),
        ("revocationPercentage", "100001", false), ("revocationPercentage", "-1", false),
        ("revocationPercentage", "50000.0", false),
        ("purchaseDate", "1199145600000", true), ("purchaseDate", "1199145599999", false),
        ("purchaseDate", "1796083200000.5", false), ("purchaseDate", "-1", false),
        ("purchaseDate", "9999999999999999", false), ("purchaseDate", "\"1796083200000\"", false),
        ("expiresDate", "1800000000000", true), ("expiresDate", "9e99", false),
        ("revocationDate", "1e12", false), ("signedDate", "1e12", false), ("signedDate", "0", false),
        ("signedDate", "\"now\"", false),
        ("originalPurchaseDate", "1697679936049.7297", true), ("originalPurchaseDate", "-62135769600000", true),
        ("originalPurchaseDate", "1e400", false), ("originalPurchaseDate", "\"\"", false),
        ("transactionId", "\"0\"", true), ("transactionId", "\"12345678901234567890\"", true),
        ("transactionId", "\"123456789012345678901\"", false), ("transactionId", "\"\"", false),
        ("transactionId", "\"12a\"", false), ("transactionId", "\"-1\"", false), ("transactionId", "\" 1\"", false),
        ("transactionId", "\"\u{0661}\"", false), ("transactionId", "1", false),
        ("originalTransactionId", "\"1'; DROP TABLE\"", false), ("isUpgraded", "1", false),
        ("isUpgraded", "true", true),
        ("productId", "7", false), ("appAccountToken", "\"\"", false), ("revocationReason", "1", true),
        ("revocationReason", "7", true),
    ]

    @Test(arguments: numbers.indices)
    func `numbers and ids are exact, whole and in range (S11)`(index: Int) throws {
        var world = try World()
        let (field, value, isAccepted) = Self.numbers[index]
        var object = World.transaction().json
        object.set(field, "MARK")
        let payload = String(decoding: JSONWriter.write(object), as: UTF8.self)
        let text = payload.replacing("\"MARK\"", with: value)
        let reason = try world.refusal(payload: text)
        #expect(reason == (isAccepted ? nil : .payloadField), "\(field) = \(value)")
    }

    @Test func `NaN and infinity are no JSON (S11)`() throws {
        var world = try World()
        for value in ["NaN", "Infinity", "-Infinity", "0x10", "01", "+1", "1."] {
            #expect(try world.refusal(payload: #"{"transactionId":"1","quantity":\#(value)}"#) == .format)
        }
    }

    @Test func `an absent quantity is one, and the limit is configurable (S11)`() throws {
        var world = try World()
        var transaction = World.transaction()
        transaction.quantity = nil
        let verified = try world.verifier.verifyTransaction(world.signer.sign(transaction), now: World.now)
        #expect(verified.transaction.payload.quantity == 1)
        var configuration = SignedDataVerifier.Configuration()
        configuration.quantities = 1...10
        var strict = try SignedDataVerifier(
            apps: [World.app], roots: [world.authority.root], configuration: configuration)
        transaction.quantity = 11
        let error = #expect(throws: VerificationFailure.self) {
            try strict.verifyTransaction(world.signer.sign(transaction), now: World.now)
        }
        #expect(error?.reason == .payloadField)
        #expect(error?.detail.hasPrefix("quantity") == true)
    }

    @Test(arguments: [
        "com.ex\u{0430}mple.game", "com.example.game ", "COM.EXAMPLE.GAME", "com.example.game\u{200b}", "com.example",
        "com.example.game.", "",
    ])
    func `bundle ids are compared byte for byte (S12)`(bundleID: String) throws {
        var world = try World()
        #expect(try world.refusal(["bundleId": .string(bundleID)]) == .appMismatch)
    }

    @Test func `letters that look and compare alike in Swift are still different bytes (S12)`() throws {
        let composed = "com.example.caf\u{e9}"
        let decomposed = "com.example.cafe\u{301}"
        #expect(composed == decomposed)
        var world = try World(apps: [AcceptedApp(id: "cafe", bundleIDs: [composed])])
        #expect(try world.refusal(["bundleId": .string(composed)]) == nil)
        #expect(try world.refusal(["bundleId": .string(decomposed)]) == .appMismatch)
    }

    @Test func `a UUID is its sixteen bytes, in whatever case it is written (S12)`() throws {
        var world = try World()
        var transaction = World.transaction()
        transaction.appAccountToken = "7E3FB20B-4CDB-47CC-936D-99D65F608138"
        let upper = try world.verifier.verifyTransaction(world.signer.sign(transaction), now: World.now)
        transaction.appAccountToken = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        let lower = try world.verifier.verifyTransaction(world.signer.sign(transaction), now: World.now)
        #expect(upper.transaction.payload.appAccountToken == lower.transaction.payload.appAccountToken)
        #expect(lower.transaction.payload.appAccountToken?.description == "7e3fb20b-4cdb-47cc-936d-99d65f608138")
        for text in [
            "7e3fb20b4cdb47cc936d99d65f608138", "{7e3fb20b-4cdb-47cc-936d-99d65f608138}",
            "7e3fb20b-4cdb-47cc-936d-99d65f60813g",
        ] {
            #expect(try world.refusal(["appAccountToken": .string(text)]) == .payloadField)
        }
    }

    @Test(arguments: ["Sandbox", "Xcode", "LocalTesting", "production", "Production ", "", "Staging"])
    func `an app that takes Production only refuses every other environment (S20)`(environment: String) throws {
        var app = World.app
        app.environments = [.production]
        var world = try World(apps: [app])
        #expect(try world.refusal(["environment": .string(environment)]) == .environmentMismatch)
        #expect(try world.refusal(["environment": "Production"]) == nil)
    }

    @Test func `Xcode and LocalTesting are refused even where both real environments are accepted (S20)`() throws {
        var world = try World()
        for environment in ["Xcode", "LocalTesting"] {
            #expect(AppStoreEnvironment(rawValue: environment) == nil)
            #expect(try world.refusal(["environment": .string(environment)]) == .environmentMismatch)
        }
        #expect(try world.refusal(["environment": nil]) == .payloadField)
        #expect(try world.refusal(["environment": 1]) == .payloadField)
    }

    @Test func `another app's transaction is refused, a second app's goes to that app (S21)`() throws {
        var world = try World()
        #expect(try world.refusal(["bundleId": "com.example.reader"]) == .appMismatch)
        let reader = AcceptedApp(
            id: "reader", bundleIDs: ["com.example.reader", "com.example.reader.pro"], environments: [.sandbox])
        var both = try World(apps: [World.app, reader])
        var transaction = World.transaction()
        transaction.bundleID = "com.example.reader.pro"
        transaction.environment = "Sandbox"
        let verified = try both.verifier.verifyTransaction(both.signer.sign(transaction), now: World.now)
        #expect(verified.transaction.appID == "reader")
        // Each app has its own environments.
        transaction.environment = "Production"
        #expect(both.refusal(try both.signer.sign(transaction)) == .environmentMismatch)
    }

    @Test func `a transaction without bundle id is neither trusted nor lost (S21)`() throws {
        var world = try World()
        var transaction = World.transaction()
        transaction.bundleID = nil
        let result = try world.verifier.verifyTransaction(world.signer.sign(transaction), now: World.now)
        guard case .bundleIDMissing(let payload) = result else {
            Issue.record("it was trusted")
            return
        }
        #expect(payload.appID == nil)
        #expect(payload.payload.transactionID == transaction.transactionID)
    }

    @Test func `ownership, upgrade, kind and product arrive as they were signed, known or not (S26)`() throws {
        var world = try World()
        var transaction = World.transaction()
        transaction.ownershipType = "FAMILY_SHARED"
        transaction.isUpgraded = true
        transaction.type = "Auto-Renewable Subscription"
        transaction.productID = "com.example.game.nobody-knows"
        var payload = try world.verifier.verifyTransaction(world.signer.sign(transaction), now: World.now)
            .transaction.payload
        #expect(payload.ownershipType == .familyShared)
        #expect(payload.isUpgraded == true)
        #expect(payload.type == .autoRenewable)
        #expect(payload.productID == "com.example.game.nobody-knows")
        transaction.ownershipType = "LENT"
        transaction.type = "Rental"
        payload = try world.verifier.verifyTransaction(world.signer.sign(transaction), now: World.now).transaction
            .payload
        #expect(payload.ownershipType?.rawValue == "LENT")
        #expect(payload.type?.rawValue == "Rental")
        transaction.overrides = ["inAppOwnershipType": nil]
        let incomplete = try world.verifier.verifyTransaction(world.signer.sign(transaction), now: World.now)
        let error = #expect(throws: VerificationFailure.self) { try incomplete.transaction.payload.purchase() }
        #expect(error?.detail == "inAppOwnershipType is missing")
    }

    @Test func `price and storefront are signed, and no price changes what is verified (S27)`() throws {
        var world = try World()
        var transaction = World.transaction()
        transaction.price = 1
        transaction.storefront = "XXX"
        transaction.currency = "nonsense"
        transaction.quantity = 7
        let jws = try world.signer.sign(transaction)
        let payload = try world.verifier.verifyTransaction(jws, now: World.now).transaction.payload
        #expect(payload.price == 1)
        #expect(payload.quantity == 7)
        #expect(try payload.purchase().productID == "com.example.game.coins")
        // A price that was changed after signing is no longer signed.
        transaction.price = 0
        let other = try world.signer.sign(transaction)
        let forged =
            String(decoding: jws, as: UTF8.self).split(separator: ".").first.map(String.init) ?? ""
        let parts = String(decoding: other, as: UTF8.self).split(separator: ".")
        let signature = String(decoding: jws, as: UTF8.self).split(separator: ".")[2]
        #expect(world.refusal(Array("\(forged).\(parts[1]).\(signature)".utf8)) == .signature)
    }

    @Test func `data from the future is refused for now, not for ever`() throws {
        var world = try World()
        var transaction = World.transaction()
        transaction.signedDate = World.now + 300_000
        #expect(world.refusal(try world.signer.sign(transaction)) == nil)
        transaction.signedDate = World.now + 300_001
        let jws = try world.signer.sign(transaction)
        let error = #expect(throws: VerificationFailure.self) {
            try world.verifier.verifyTransaction(jws, now: World.now)
        }
        #expect(error?.reason == .signedDateInFuture)
        #expect(error?.isTransient == true)
        #expect(world.refusal(jws, now: World.now + 1) == nil)
    }
}
