import Observability
import Testing

@testable import Service

/// A service without parts, to see the command line that all services share.
private enum EmptyProgram: ServiceProgram {
    static let name = "empty"
    static let migrations: [Migration] = []
    static func readSettings(_ reader: inout SettingsReader) -> String {
        reader.text("GREETING", default: "hello", meaning: "what to say")
    }
    static func start(_ settings: String, _ context: ServiceContext) throws -> [any ServicePart] { [] }
    static func check(_ settings: String, _ common: CommonSettings) -> [CheckResult] {
        [CheckResult("greeting", problem: settings == "bye" ? "is rude; say hello" : nil)]
    }
}

@Suite struct ServiceMainTests {
    private func run(_ arguments: [String], _ environment: [String: String] = [:]) -> (code: Int32, lines: [String]) {
        var lines: [String] = []
        let code = ServiceMain.run(
            EmptyProgram.self, arguments: arguments, environment: environment, output: { lines.append($0) })
        return (code, lines)
    }

    @Test func `version prints name and version`() {
        let result = run(["version"])
        #expect(result.code == 0 && result.lines == ["purser-empty \(ServiceMain.version)"])
    }

    @Test(arguments: [["fly"], ["serve", "now"]]) func `unknown words print the usage`(arguments: [String]) {
        let result = run(arguments)
        #expect(result.code == 2 && result.lines.first?.hasPrefix("usage: purser-empty") == true)
    }

    @Test func `config shows effective values with secrets masked`() {
        let result = run(["config"], ["PURSER_EMPTY_AMQP_URL": "amqp://u:canary-password@127.0.0.1:1/"])
        #expect(result.code == 0)
        #expect(result.lines.contains { $0.hasPrefix("PURSER_EMPTY_GREETING=hello  # default") })
        #expect(result.lines.contains { $0.hasPrefix("PURSER_EMPTY_AMQP_URL=***") })
        #expect(!result.lines.joined().contains("canary-password"))
    }

    @Test func `check lists every problem at once`() {
        let result = run(
            ["check"],
            [
                // Port 1 of the loopback address refuses at once.
                "PURSER_EMPTY_AMQP_URL": "amqp://u:p@127.0.0.1:1/", "PURSER_EMPTY_METRICS_PORT": "99999",
                "PURSER_EMPTY_GREETING": "bye",
            ])
        #expect(result.code == 1)
        #expect(result.lines.contains { $0.hasPrefix("FAIL settings: PURSER_EMPTY_METRICS_PORT") })
        #expect(result.lines.contains { $0.hasPrefix("FAIL broker 127.0.0.1:1: cannot connect") })
        #expect(result.lines.contains("FAIL greeting: is rude; say hello"))
    }

    @Test func `serve refuses wrong settings and names all of them`() {
        let result = run(["serve"], ["PURSER_EMPTY_LOG_LEVEL": "loud"])
        #expect(result.code == 2)
        #expect(result.lines.count == 2)
    }
}
