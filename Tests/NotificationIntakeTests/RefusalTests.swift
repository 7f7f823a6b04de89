import AppStore
import AppStoreSimulation
import JSON
import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import NotificationIntake

/// Notifications that are refused, each for one reason.
struct Refused: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let reason: VerificationFailure.Reason
    let text: @Sendable (World) throws -> String

    init(
        _ name: String, _ reason: VerificationFailure.Reason, _ text: @escaping @Sendable (World) throws -> String
    ) {
        testDescription = name
        self.reason = reason
        self.text = text
    }

    private static func parts(_ text: String) -> [Substring] { text.split(separator: ".") }

    static let all = [
        Refused("nothing", .format) { _ in "" },
        Refused("garbage", .format) { _ in "{\"signedPayload\":{}}" },
        Refused("NUL", .format) { _ in "a\u{0}.b\u{0}.c" },
        Refused("256 KiB of letters", .tooLarge) { _ in String(repeating: "x", count: (256 << 10) + 1) },
        Refused("256 KiB of dots", .tooLarge) { _ in String(repeating: ".", count: 300_000) },
        Refused("somebody else's authority", .chainUntrusted) { _ in
            let stranger = TransactionSigner(try SimulatedAuthority.generate())
            return String(decoding: try stranger.sign(World.notification("REFUND")), as: UTF8.self)
        },
        Refused("algorithm none", .alg) { world in
            let header: JSONObject = ["alg": "none", "x5c": .array(world.authority.x5c.map { .string($0) })]
            let payload = JSONWriter.write(World.notification("REFUND").json)
            return String(decoding: try world.signer.sign(payload: payload, header: header), as: UTF8.self)
        },
        Refused("another payload under a genuine signature", .signature) { world in
            let (one, other) = (parts(try world.sign("REFUND", 1)), parts(try world.sign("REFUND", 2)))
            return "\(one[0]).\(other[1]).\(one[2])"
        },
        Refused("duplicate keys", .format) { world in
            let text = String(decoding: JSONWriter.write(World.notification("REFUND").json), as: UTF8.self)
            let twice = "{\"notificationType\":\"TEST\"," + text.dropFirst()
            return String(decoding: try world.signer.sign(payload: Array(twice.utf8)), as: UTF8.self)
        },
        Refused("an app nobody knows", .appMismatch) { world in
            try world.sign("REFUND", transaction: nil) { $0.bundleID = "com.example.other" }
        },
        Refused("another Apple id", .appMismatch) { world in
            try world.sign("REFUND", transaction: nil) { $0.appAppleID = 4321 }
        },
        Refused("Xcode", .environmentMismatch) { world in
            try world.sign("REFUND", transaction: nil) { $0.environment = "Xcode" }
        },
        Refused("an environment the app does not accept", .environmentMismatch) { world in
            try world.sign("REFUND", transaction: nil) {
                $0.bundleID = World.booksBundle
                $0.appAppleID = nil
                $0.environment = "Sandbox"
            }
        },
        Refused("a transaction", .payloadType) {
            String(decoding: try $0.signer.sign(World.transaction()), as: UTF8.self)
        },
        Refused("no id", .payloadField) { try $0.sign("REFUND") { $0.overrides = ["notificationUUID": nil] } },
        Refused("of no app", .appUnidentified) { world in
            try world.sign(["notificationType": "NEW", "notificationUUID": .string(World.uuid(1))])
        },
    ]

    /// Good outside, bad inside.
    static let inside = [
        Refused("a transaction of another app of ours", .appMismatch) { world in
            var other = World.transaction()
            other.bundleID = World.booksBundle
            return try world.sign("REFUND", transaction: other)
        },
        Refused("a transaction of another environment", .environmentMismatch) { world in
            var other = World.transaction()
            other.environment = "Sandbox"
            return try world.sign("REFUND", transaction: other)
        },
        Refused("a payload swapped from another notification", .signature) { world in
            let (one, other) = (
                parts(String(decoding: try world.signer.sign(World.transaction("1")), as: UTF8.self)),
                parts(String(decoding: try world.signer.sign(World.transaction("2")), as: UTF8.self))
            )
            return try world.sign("REFUND") { $0.signedTransactionInfo = "\(one[0]).\(other[1]).\(one[2])" }
        },
        Refused("a notification in the place of a transaction", .payloadType) { world in
            let other = String(decoding: try world.signer.sign(World.notification("TEST", 2)), as: UTF8.self)
            return try world.sign("REFUND") { $0.signedTransactionInfo = other }
        },
        Refused("renewal info of another subscription", .payloadField) { world in
            try world.sign("DID_RENEW") { $0.signedRenewalInfo = try? world.renewalInfo("2000000000000009") }
        },
        Refused("a transaction without a product", .payloadField) { world in
            var other = World.transaction()
            other.overrides = ["productId": nil]
            return try world.sign("REFUND", transaction: other)
        },
    ]
}

/// What is refused is kept by message, bounded, and never in the way.
@Suite(.timeLimit(.minutes(2))) struct RefusalTests {
    @Test(arguments: Refused.all + Refused.inside)
    func `what is not Apple's, or not for us, is put aside with its reason and told to nobody (S13 S25)`(
        refused: Refused
    ) async throws {
        let name = refused.testDescription.lowercased().map { $0.isLetter ? String($0) : "_" }.joined()
        try await IntakeDatabase.with("refused_\(name.prefix(36))") { intake in
            var session = try intake.open()
            let outcome = try session.run([try received(try refused.text(World()))]).first
            #expect(outcome?.facts.count == 0 && outcome?.parkedReason == nil && outcome?.isOutage == false)
            #expect(try intake.refusals() == [refused.reason.rawValue])
            #expect(try intake.count("notifications") == 0)
        }
    }

    @Test func `a forgery with the UUID of a genuine notification does not keep it out (S25)`() async throws {
        try await IntakeDatabase.with("occupied") { intake in
            var session = try intake.open()
            let world = try World()
            let stranger = TransactionSigner(try SimulatedAuthority.generate())
            let forged = String(decoding: try stranger.sign(World.notification("REFUND")), as: UTF8.self)
            let bad = try world.sign("REFUND") { $0.signedTransactionInfo = "not.signed.data" }
            let good = try world.sign("REFUND")
            let outcomes = try session.run([try received(forged), try received(bad), try received(good)])
            #expect(outcomes.map(\.facts.count) == [0, 0, 1])
            #expect(try intake.rebuilt() == [good])
            #expect(try session.run([try received(forged)]).first?.facts.count == 0)
            #expect(try intake.timesReceived() == 1, "a forgery is no repetition")
        }
    }

    @Test func `a refusal is kept once a message, and the oldest make room`() async throws {
        try await IntakeDatabase.with("capped") { intake in
            var session = try intake.open(quarantineLimit: 5)
            let message = try received("forged")
            _ = try session.run([message, message])
            _ = try session.run([message])
            #expect(try intake.count("quarantine") == 1)
            for number in 1...8 { _ = try session.run([try received("\(number)")]) }
            let kept = try intake.rows("SELECT excerpt FROM intake.quarantine ORDER BY sequence")
            #expect(try kept.map { try $0.text("excerpt") } == ["4", "5", "6", "7", "8"])
        }
    }

    @Test func `of what Apple signed enough is kept to hand it in again, of anything else the beginning`() async throws
    {
        try await IntakeDatabase.with("excerpts") { intake in
            var session = try intake.open()
            let other = try World().sign("REFUND", transaction: nil) { $0.bundleID = "com.example.other" }
            _ = try session.run([try received(other)])
            _ = try session.run([try received(String(repeating: "🂡", count: 60_000))])
            let kept = try intake.rows("SELECT excerpt FROM intake.quarantine ORDER BY sequence").map {
                try $0.text("excerpt")
            }
            #expect(kept.first == other)
            #expect(kept.count == 2 && kept[1].utf8.count <= 4_106)
        }
    }

    private static let forbidden = [
        "UPDATE intake.notifications SET type = 'TEST'", "DELETE FROM intake.notifications",
        "TRUNCATE intake.notifications", "UPDATE intake.notifications SET payload = ''",
        "UPDATE intake.headers SET segment = ''", "DELETE FROM intake.facts", "DELETE FROM intake.redrives",
        "UPDATE intake.quarantine SET reason = ''", "CREATE TABLE intake.mine ()",
    ]

    @Test func `the service can add to what Apple told, never change or remove it`() async throws {
        try await IntakeDatabase.with("rights") { intake in
            var session = try intake.open()
            _ = try session.run([try received(World().sign()), try received("forged")])
            for statement in Self.forbidden {
                let error = #expect(throws: PostgresError.self) { _ = try session.connection.query(statement) }
                #expect(error?.sqlState == "42501", "\(statement): \(String(describing: error))")
            }
            let owner = #expect(throws: PostgresError.self) {
                try intake.database.execute("SET ROLE purser_migrator; UPDATE intake.notifications SET payload = ''")
            }
            #expect(owner?.sqlState == "42501", "not even the owner")
            try intake.database.createRole("purser_granting")
            var others = try intake.database.open(role: "purser_granting")
            let foreign = #expect(throws: PostgresError.self) {
                _ = try others.query("SELECT FROM intake.notifications")
            }
            #expect(foreign?.sqlState == "42501", "another service sees nothing")
            var auditor = try intake.database.open(role: "purser_auditor")
            #expect(try auditor.query("SELECT FROM intake.notifications").count == 1)
        }
    }
}
