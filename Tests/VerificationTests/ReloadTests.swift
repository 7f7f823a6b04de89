import AppStore
import AppStoreSimulation
import FoundationEssentials
import Messages
import Observability
import Reloading
import Runtime
import TestSupport
import Testing
import Trust

@testable import Pipeline
@testable import Service
@testable import Verification

/// Apps' files that change while the service runs.
@Suite(.timeLimit(.minutes(2))) struct ReloadTests {
    @Test func `a lane believes in apps as the files say now, from the next batch on`() async throws {
        try await VerificationDatabase.with("reload") { verification in
            let world = try World()
            let books = TrustSettings(apps: [World.apps[1]], roots: [world.authority.root])
            let live = Live(books)
            var session = try verification.open()
            session.handler = VerifyPurchases(
                verifier: try books.verifier(), receipts: try books.receiptVerifier(), metrics: Metrics(),
                logger: .silent, revocation: .off, follower: Follower(live), now: { World.now })
            let signed = try world.sign("1")
            #expect(try session.run([try submission(signed)])[0].answer?.status == .refused)
            live.replace(by: TrustSettings(apps: World.apps, roots: [world.authority.root]))
            #expect(try session.run([try submission(signed)])[0].facts.map(\.type) == [.purchaseVerified])
            live.replace(by: books)
            #expect(try session.run([try submission(signed)])[0].answer?.status == .refused)
        }
    }

    private static let app = """
        id: clouds
        surface: orders
        hosts: [clouds.example]
        bundleIds: [com.example.clouds]
        appAppleId: 1234567890
        environments: [Production, Sandbox]
        loginTokens:
          issuer: https://login.example
          audience: clouds-login
          keys:
            - {id: login-1, algorithm: HS256, secretFile: keys/login}
        assets:
          - {id: COINS, jsonName: coins, insufficientCode: BALANCE_NOT_ENOUGH}
        products:
          - code: COINS_60
            appleProductId: coins_60
            type: consumable
            grants: [{asset: COINS, amount: 60}]
            sort: 1
        policies:
          sandbox: listed
          reviewers: []
          testers: []

        """

    @Test func `files are followed: a new bundle id is in force, a mistake changes nothing`() async throws {
        try await onThread {
            let folder = "/tmp/purser-reload-\(UInt64.random(in: 0 ... .max))"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            func write(_ text: String) throws {
                try Data(text.utf8).write(to: URL(filePath: folder + "/clouds.yaml"), options: .atomic)
            }
            try write(Self.app)
            let environment = [
                "PURSER_VERIFICATION_APPS": folder, "PURSER_VERIFICATION_APPS_RELOAD_SECONDS": "1",
            ]
            var reader = SettingsReader(service: "verification", environment: environment)
            let (files, common) = (TrustFiles(&reader), CommonSettings(&reader, hasDatabase: false))
            let (metrics, stop) = (Metrics(), StopSignal())
            let context = ServiceContext(common: common, logger: .silent, metrics: metrics, stop: stop)
            let (live, parts) = try files.follow(context) { trust, _ in trust }
            defer {
                stop.stop()
                for part in parts { _ = part.shutDown(within: .seconds(10)) }
            }
            func bundles() -> [String] { live.value.apps.flatMap(\.bundleIDs).sorted() }
            #expect(bundles() == ["com.example.clouds"])
            try write(Self.app.replacing("[com.example.clouds]", with: "[com.example.clouds, com.example.more]"))
            try eventually("the new bundle id is in force") { bundles().count == 2 }
            try write(Self.app.replacing("surface: orders", with: "surface: ordres"))
            try eventually("the mistake is told") { metrics.render().contains("purser_apps_stale 1") }
            #expect(bundles().count == 2)
            try write(Self.app)
            try eventually("it is mended") { bundles().count == 1 }
            #expect(metrics.render().contains("purser_apps_stale 0"))
        }
    }
}
