import AppStore
import Crypto
import FoundationEssentials
import Messages
import Observability
import Pipeline
import TestSupport
import Testing
import Trust

@testable import NotificationIntake

/// Apple's own signed notification, through the handler.
@Suite struct AppleFixtureTests {
    private static func bytes(_ path: String, file: String = #filePath) throws -> [UInt8] {
        let tests = URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent()
        return Array(try Data(contentsOf: tests.appendingPathComponent("Fixtures/apple/" + path)))
    }

    private static func handler(_ bundleID: String) throws -> StoreNotifications {
        StoreNotifications(
            verifier: try SignedDataVerifier(
                apps: [AcceptedApp(id: "example", bundleIDs: [bundleID], appAppleID: 1234)],
                roots: [try Certificate(der: try bytes("certs/testCA.der"))]),
            instruments: IntakeMetrics(Metrics()), logger: .silent,
            chains: ChainWatch(.off, service: "intake", metrics: Metrics()), now: { World.now })
    }

    @Test func `Apple's test notification is stored and told as what it is`() async throws {
        try await IntakeDatabase.with("apple") { intake in
            let jws = String(decoding: try Self.bytes("mock_signed_data/testNotification"), as: UTF8.self)
            var session = try intake.open(handler: try Self.handler("com.example"))
            let told = try session.run([try received(jws)]).first?.told.first
            #expect(told?.notificationType == "TEST" && told?.app == AppID("example"))
            #expect(told?.environment == .sandbox && told?.transaction == nil)
            #expect(try intake.rebuilt() == [jws])
        }
    }

    @Test func `Apple's notification for another bundle id is refused`() async throws {
        try await IntakeDatabase.with("apple_other") { intake in
            let jws = String(decoding: try Self.bytes("mock_signed_data/wrongBundleId"), as: UTF8.self)
            var session = try intake.open(handler: try Self.handler("com.example"))
            #expect(try session.run([try received(jws)]).first?.facts.count == 0)
            #expect(try intake.refusals() == ["app_mismatch"])
        }
    }
}
