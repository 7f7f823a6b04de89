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

    @Test func `wrong words print the usage`() {
        #expect(run(["--what"]).code == 2)
        #expect(run(["--what", "x"]).text == TopologyCommand.usage)
        #expect(run(["--users", "/nowhere"]).text == "/nowhere cannot be read")
    }
}
