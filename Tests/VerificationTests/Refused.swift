import AppStore
import AppStoreSimulation
import JSON
import Messages
import Testing

/// Submissions that are refused, each for one reason.
struct Refused: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let reason: VerificationFailure.Reason
    let code: AnswerCode
    let event: SecurityEvent?
    /// What is handed in for the game.
    let text: @Sendable (World) throws -> String

    private init(
        _ name: String, _ reason: VerificationFailure.Reason, _ event: SecurityEvent?,
        code: AnswerCode = .appleTransactionVerifyFailed, _ text: @escaping @Sendable (World) throws -> String
    ) {
        testDescription = name
        self.reason = reason
        self.code = code
        self.event = event
        self.text = text
    }

    static let all = forged + misdirected + incomplete

    /// Not Apple's.
    private static let forged = [
        Refused("nothing", .format, .forgedEvidence) { _ in "" },
        Refused("garbage", .format, .forgedEvidence) { _ in "not.a.jws" },
        Refused("NUL and the like", .format, .forgedEvidence) { _ in "\u{0}\u{7}e\u{301}\r\n\u{0}" },
        Refused("algorithm none", .alg, .forgedEvidence) { world in
            try Self.sign(world, header: ["alg": "none", "x5c": .array(world.authority.x5c.map { .string($0) })])
        },
        Refused("two certificates", .chainLength, .forgedEvidence) { world in
            try Self.sign(world, header: TransactionSigner.header(x5c: Array(world.authority.x5c.prefix(2))))
        },
        Refused("no certificates", .certificate, .forgedEvidence) { world in
            try Self.sign(world, header: TransactionSigner.header(x5c: ["AAAA", "AAAA", "AAAA"]))
        },
        Refused("somebody else's authority", .chainUntrusted, .forgedEvidence) { _ in
            try Self.sign(by: .generate())
        },
        Refused("a certificate for other purposes", .chainOID, .forgedEvidence) { world in
            // Under a trusted root: what any developer could have.
            try Self.sign(by: world.developers)
        },
        Refused("a changed payload", .signature, .forgedEvidence) { world in
            let parts = try world.sign().split(separator: ".")
            let other = try world.sign { $0.quantity = 10 }.split(separator: ".")
            return [parts[0], other[1], parts[2]].joined(separator: ".")
        },
        Refused("signed before the certificate was valid", .chainTime, .forgedEvidence) { world in
            // 2019: the simulated authority begins with 2020.
            try world.sign { $0.signedDate = 1_570_000_000_000 }
        },
    ]

    /// Apple's, for somebody or something else.
    private static let misdirected = [
        Refused("an app nobody knows", .appMismatch, .otherApp) { try $0.sign { $0.bundleID = "com.example.other" } },
        Refused("another app of this deployment", .appMismatch, .otherApp) { world in
            try world.sign { $0.bundleID = World.booksBundle }
        },
        Refused("Xcode", .environmentMismatch, .sandboxPurchase) { try $0.sign { $0.environment = "Xcode" } },
        Refused("LocalTesting", .environmentMismatch, .sandboxPurchase) { world in
            try world.sign { $0.environment = "LocalTesting" }
        },
        Refused("a notification", .payloadType, nil) { world in
            let notification = SimulatedNotification(
                type: "TEST", uuid: "002e14d5-51f5-4503-b5a8-c3a1af68eb20", bundleID: World.gameBundle,
                appAppleID: 1234, signedDate: World.now)
            return String(decoding: try world.signer.sign(notification), as: UTF8.self)
        },
        Refused("65 KiB", .tooLarge, nil) { try $0.sign { $0.storefront = String(repeating: "x", count: 65 << 10) } },
    ]

    /// Apple's, without what a purchase needs.
    private static let incomplete = [
        Refused("no transaction id", .payloadField, nil, code: .appleTransactionIDEmpty) {
            try $0.sign(without: "transactionId")
        },
        Refused("a null transaction id", .payloadField, nil, code: .appleTransactionIDEmpty) { world in
            try world.sign { $0.overrides = ["transactionId": nil] }
        },
        Refused("an empty transaction id", .payloadField, nil, code: .appleTransactionIDEmpty) { try $0.sign("") },
        Refused("a blank transaction id", .payloadField, nil, code: .appleTransactionIDEmpty) { try $0.sign("  ") },
        Refused("no product id", .payloadField, nil, code: .appleProductIDEmpty) { try $0.sign(without: "productId") },
        Refused("a null product id", .payloadField, nil, code: .appleProductIDEmpty) { world in
            try world.sign { $0.overrides = ["productId": nil] }
        },
        Refused("an empty product id", .payloadField, nil, code: .appleProductIDEmpty) {
            try $0.sign { $0.productID = "" }
        },
        Refused("a blank product id", .payloadField, nil, code: .appleProductIDEmpty) {
            try $0.sign { $0.productID = " " }
        },
        Refused("no original transaction id", .payloadField, nil) { try $0.sign(without: "originalTransactionId") },
        Refused("no purchase date", .payloadField, nil) { try $0.sign(without: "purchaseDate") },
        Refused("no type", .payloadField, nil) { try $0.sign(without: "type") },
        Refused("no signed date", .payloadField, nil) { try $0.sign(without: "signedDate") },
        Refused("quantity 0", .payloadField, nil) { try $0.sign { $0.quantity = 0 } },
        // Its detail begins with another field's name: what counts is the field.
        Refused("a token that is none", .payloadField, nil) { try $0.sign { $0.appAccountToken = "transactionId " } },
    ]

    private static func sign(_ world: World, header: JSONObject) throws -> String {
        let payload = JSONWriter.write(World.transaction().json)
        return String(decoding: try world.signer.sign(payload: payload, header: header), as: UTF8.self)
    }

    private static func sign(by authority: SimulatedAuthority) throws -> String {
        String(decoding: try TransactionSigner(authority).sign(World.transaction()), as: UTF8.self)
    }
}
