import HTTPServer
import JSON
import Service
import Testing

@testable import Gateway

@Suite struct SettingsTests {
    private func read(_ environment: [String: String]) -> (GatewaySettings, [String]) {
        var reader = SettingsReader(service: GatewayProgram.name, environment: environment)
        let settings = GatewaySettings(&reader)
        reader.finish()
        return (settings, reader.problems)
    }

    @Test func `the defaults serve on the loopback interface`() {
        let (settings, problems) = read(["PURSER_GATEWAY_APPS": "/etc/purser/apps"])
        #expect(problems.isEmpty)
        #expect(settings.address == "127.0.0.1")
        #expect(settings.port == 8_080)
        #expect(settings.clientAddressHeader == nil)
        let configuration = settings.serverConfiguration(refuse: { $0.plainResponse })
        #expect(configuration.maximumInFlight == settings.maximumInFlight)
        #expect(configuration.port == 8_080)
    }

    @Test(arguments: [
        [:], ["PURSER_GATEWAY_APPS": "apps", "PURSER_GATEWAY_HTTP_PORT": "65536"],
        ["PURSER_GATEWAY_APPS": "apps", "PURSER_GATEWAY_MAXIMUM_IN_FLIGHT": "0"],
        ["PURSER_GATEWAY_APPS": "apps", "PURSER_GATEWAY_HTTP_PROT": "80"],
    ])
    func `a missing, wrong or misspelt setting is a problem`(_ environment: [String: String]) {
        #expect(read(environment).1.count == 1)
    }

    @Test(
        arguments: [
            (["203.0.113.9"], "203.0.113.9"), (["10.0.0.1, 203.0.113.9"], "203.0.113.9"),
            (["2001:db8::1"], "2001:db8::1"),
            (["a", "203.0.113.9"], "203.0.113.9"), (["203.0.113.9, <script>"], nil), ([""], nil), ([], nil),
            ([String(repeating: "1", count: 46)], nil),
        ] as [([String], String?)])
    func `only the nearest proxy's word is taken for the client's address`(_ values: [String], _ address: String?) {
        #expect(RequestTrace.address(values) == address)
    }

    @Test func `a client cannot name its own address unless a proxy is trusted`() async throws {
        let door = try TestDoor(Samples.everything)
        _ = try await door.send("GET", "/api/wallet/balance", more: [("X-Forwarded-For", "203.0.113.9")])
        #expect(try door.log.entries("request").first?["remote.address"] == "192.0.2.7")
    }
}
