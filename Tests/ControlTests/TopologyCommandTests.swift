import Crypto
import FoundationEssentials
import JOSE
import Messages
import Testing

@testable import Control

@Suite struct TopologyCommandTests {
    private func run(_ arguments: [String]) -> (code: Int32, text: String) {
        var lines: [String] = []
        let code = TopologyCommand.run(arguments: arguments) { lines.append($0) }
        return (code, lines.joined(separator: "\n"))
    }

    private func withUsers<R>(_ text: String, _ body: (String) throws -> R) throws -> R {
        let path = "/tmp/purser-users-\(UInt64.random(in: 0 ... .max))"
        try Data(text.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }

    @Test func `users get a salted hash of their password and never the password`() throws {
        let hash = try TopologyCommand.passwordHash("secret")
        let bytes = try #require(Base64.decode(hash))
        #expect(bytes.count == 36)
        #expect(Array(bytes.dropFirst(4)) == SHA256.hash(Array(bytes.prefix(4)) + Array("secret".utf8)))
        try withUsers("gateway:canary-password\n") { path in
            let result = run(["--users", path, "--vhost", "v"])
            #expect(result.code == 0 && !result.text.contains("canary-password"))
            #expect(result.text.contains("\"name\" : \"gateway\"") && result.text.contains("\"vhost\" : \"v\""))
        }
    }

    @Test func `a line that names no service is refused with its place`() throws {
        try withUsers("gateway:x\ngate:y\n") { path in
            let result = run(["--users", path])
            #expect(result.code == 2 && result.text.hasPrefix("\(path):2: no service is called gate"))
        }
        try withUsers("gateway\n") { path in
            #expect(run(["--users", path]).text == "\(path):1: write user:password")
        }
    }

    @Test func `what the source prints has no difference to the source, anything missing or changed has one`() throws {
        let hashes = Dictionary(uniqueKeysWithValues: Topology.accesses.map { ($0.user, "hash") })
        let printed = String(decoding: try Topology.definitions(passwordHashes: hashes), as: UTF8.self)
        func compare(_ text: String, _ options: String...) throws -> (code: Int32, text: String) {
            try withUsers(text) { run(["diff"] + options + [$0]) }
        }
        #expect(try compare(printed) == (0, "the broker has what the source says"))
        let changed = try compare(printed.replacing("\"durable\" : true", with: "\"durable\" : false"))
        #expect(
            changed.code == 1 && changed.text.contains("differs  queue granting.wallet: durable is “false”, not “true”")
        )
        let elsewhere = try compare(printed, "--vhost", "other")
        #expect(elsewhere.code == 1 && elsewhere.text.contains("missing  virtual host other"))
        let record =
            "missing  topic permission of gateway on purser.retry (without a record every routing key is allowed)"
        #expect(elsewhere.text.contains(record))
        let foreign = "{\"name\" : \"eve\", \"tags\" : [\"administrator\"]}, "
        let invaded = printed.replacing("\"users\" : [", with: "\"users\" : [" + foreign)
        let found = try compare(invaded)
        #expect(found.code == 1 && found.text.hasPrefix("extra    user eve: tags “administrator”\n1 difference"))
        #expect(try compare(invaded, "--administrator", "eve").code == 0)
        // Older brokers write tags as one text.
        #expect(try compare(printed.replacing("\"tags\" : [", with: "\"tags\" : [")).code == 0)
        #expect(try compare("{}").code == 2)
        #expect(
            try compare("eyJ").text.hasSuffix("is no export of a broker's definitions (rabbitmqctl export_definitions)")
        )
        #expect(run(["diff"]).code == 2 && run(["diff", "--vhost"]).code == 2 && run(["diff", "a", "b"]).code == 2)
        #expect(run(["diff", "/nowhere"]).code == 2)
    }

    @Test func `wrong words print the usage`() {
        #expect(run(["--what"]).code == 2)
        #expect(run(["--what", "x"]).text == TopologyCommand.usage)
        #expect(run(["--users", "/nowhere"]).text == "/nowhere cannot be read")
    }
}
