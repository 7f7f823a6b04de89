import FoundationEssentials
import Glibc
import Observability
import Testing

@testable import Service

@Suite struct SettingsReaderTests {
    private enum Colour: String, CaseIterable { case red, blue }

    @Test func `all problems are reported together, each with its variable`() {
        var reader = SettingsReader(
            service: "granting",
            environment: [
                "PURSER_GRANTING_LANES": "many", "PURSER_GRANTING_COLOUR": "green", "PURSER_GRANTING_LANSE": "3",
                "PURSER_GRANTING_KEY_FILE": "/nowhere/key",
            ])
        _ = reader.text("NAME", meaning: "a name")
        _ = reader.integer("LANES", default: 1, in: 1...16, meaning: "threads")
        _ = reader.choice("COLOUR", default: Colour.red, meaning: "a colour")
        _ = reader.optionalSecret("KEY", meaning: "a key")
        reader.finish()
        #expect(
            reader.problems == [
                "PURSER_GRANTING_NAME must be set: a name.",
                "PURSER_GRANTING_LANES must be a whole number from 1 to 16.",
                "PURSER_GRANTING_COLOUR must be one of: red, blue.",
                "PURSER_GRANTING_KEY_FILE names a file that cannot be read as text: /nowhere/key.",
                "PURSER_GRANTING_LANSE is no setting of this service; is it misspelt?",
            ])
    }

    @Test func `secrets are masked and may come from a file`() throws {
        let path = "/tmp/purser-settings-\(UInt64.random(in: 0 ... .max))"
        try Data("hunter2\n".utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        chmod(path, 0o600)
        var reader = SettingsReader(service: "gateway", environment: ["PURSER_GATEWAY_PASSWORD_FILE": path])
        let secret = reader.secret("PASSWORD", meaning: "a password")
        reader.finish()
        #expect(secret.reveal() == "hunter2" && reader.problems.isEmpty)
        #expect(reader.effective.map(\.value) == ["***"])
        #expect(reader.effective.map(\.variable) == ["PURSER_GATEWAY_PASSWORD"])
    }

    @Test(arguments: [0o640, 0o604, 0o620] as [UInt32])
    func `a secret in a file that others can read or write is refused (A-136, S52)`(mode: UInt32) throws {
        let path = "/tmp/purser-settings-\(UInt64.random(in: 0 ... .max))"
        try Data("hunter2".utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        chmod(path, mode)
        let environment = ["PURSER_GATEWAY_PASSWORD_FILE": path, "PURSER_GATEWAY_NAME_FILE": path]
        var reader = SettingsReader(service: "gateway", environment: environment)
        _ = reader.text("NAME", meaning: "no secret, so its file may be anybody's")
        _ = reader.secret("PASSWORD", meaning: "a password")
        #expect(
            reader.problems == [
                "PURSER_GATEWAY_PASSWORD_FILE names a file that others can read or write; run chmod 600 \(path)."
            ])
    }

    @Test func `a setting given twice is a problem`() {
        var reader = SettingsReader(
            service: "gateway", environment: ["PURSER_GATEWAY_A": "1", "PURSER_GATEWAY_A_FILE": #filePath])
        _ = reader.optionalText("A", meaning: "a")
        #expect(reader.problems == ["PURSER_GATEWAY_A is set twice, directly and by _FILE."])
    }

    @Test func `hyphens of a service's name become underscores`() {
        #expect(
            SettingsReader(service: "notification-intake", environment: [:]).prefix == "PURSER_NOTIFICATION_INTAKE_")
    }
}
