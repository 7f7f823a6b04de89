import Apps
import HTTPServer
import JSON
import Messages
import Service
import Testing

@testable import Gateway

@Suite struct SettingsTests {
    @Test func `the defaults serve on the loopback interface`() throws {
        let (settings, problems) = try AppFolder().settings()
        #expect(problems.isEmpty)
        #expect(settings.address == "127.0.0.1")
        #expect(settings.port == 8_080)
        #expect(settings.limits.trustedProxies.isEmpty && settings.limits.unlimitedAddresses.isEmpty)
        let gate = ClientGate(settings.limits, limited: { _ in }, refuse: { _, _ in HTTPResponse(status: 429) })
        let configuration = settings.serverConfiguration(refuse: { $0.plainResponse }, gate: gate)
        #expect(configuration.maximumInFlight == settings.maximumInFlight)
        #expect(configuration.port == 8_080)
    }

    @Test(arguments: [
        ["PURSER_GATEWAY_APPS": ""], ["PURSER_GATEWAY_APPS": "/nowhere"], ["PURSER_GATEWAY_HTTP_PORT": "65536"],
        ["PURSER_GATEWAY_MAXIMUM_IN_FLIGHT": "0"], ["PURSER_GATEWAY_HTTP_PROT": "80"],
        ["PURSER_GATEWAY_TRUSTED_PROXIES": "proxy.example"], ["PURSER_GATEWAY_UNLIMITED_ADDRESSES": "10.0.0.1/8"],
        ["PURSER_GATEWAY_ADDRESS_RATE": "-1"], ["PURSER_GATEWAY_USER_BURST": "0"],
    ])
    func `a missing, wrong or misspelt setting is a problem`(_ environment: [String: String]) throws {
        let problems = try AppFolder().settings(environment).problems
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix(environment.keys.first ?? "-") == true)
    }

    @Test func `an app's file decides place, assets and tokens`() throws {
        let (settings, problems) = try AppFolder().settings()
        #expect(problems.isEmpty)
        #expect(settings.apps.directory.count == 1)
        #expect(settings.apps.directory.find(host: "clouds.example", path: "/api/wallet/balance") == nil)
        let found = try #require(settings.apps.directory.find(host: "clouds.example", path: "/pay/api/wallet/balance"))
        #expect(found.path == "/api/wallet/balance")
        #expect(found.app.id == AppID("clouds"))
        #expect(found.app.assets.map(\.jsonName) == ["danbing", "timeMinutes"])
        let authenticator = Authenticator(now: { TestTokens.now })
        for kind in TokenKind.allCases {
            for token in TokenKind.allCases {
                let request = HTTPRequest(
                    method: "GET", path: "/",
                    headers: [("Authorization", "Bearer \(try TestTokens.make("clouds", token))")])
                let verdict = authenticator.judge(request, for: found.app, kind: kind)
                let caller = Caller(kind: kind, subject: "user-1", expiresAt: TestTokens.now / 1_000 + 600)
                #expect(verdict == (kind == token ? .caller(caller) : .refused(.wrongKind)))
            }
        }
    }

    /// S32, S52.
    @Test(arguments: [("keys/login", 0o640, 64), ("keys/login", 0o604, 64), ("keys/service", 0o600, 31)])
    func `a secret that others can read, or that is short, keeps the gateway from serving`(
        _ file: String, _ mode: Int, _ length: Int
    ) throws {
        let folder = try AppFolder()
        try folder.write(file, Array(repeating: 0x61, count: length), mode: mode)
        let (settings, problems) = folder.settings()
        #expect(problems.count == 1)
        #expect(problems.first?.contains("clouds.yaml:") == true)
        #expect(problems.first?.contains("aaaa") == false)
        #expect(settings.apps.directory.count == 0)
    }

    @Test func `an app whose servers may not call refuses every service token`() throws {
        let app = ServedApp(
            id: AppID("a"), surface: .orders, assets: [], login: try TestTokens.verifier("clouds", .login), service: nil
        )
        let request = HTTPRequest(
            method: "GET", path: "/", headers: [("Authorization", "Bearer \(try TestTokens.make("clouds", .service))")])
        let verdict = Authenticator(now: { TestTokens.now }).judge(request, for: app, kind: .service)
        #expect(verdict == .refused(.invalidToken))
    }

    @Test func `a client cannot name its own address unless a proxy is trusted`() async throws {
        let door = try TestDoor(Samples.everything)
        _ = try await door.send("GET", "/api/wallet/balance", more: [("X-Forwarded-For", "203.0.113.9")])
        #expect(try door.log.entries("request").first?["remote.address"] == "192.0.2.7")
    }
}
