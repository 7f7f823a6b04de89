import Crypto
import FoundationEssentials

@testable import AppStore

/// The files under Tests/Fixtures.
enum Fixture {
    static func bytes(_ path: String, file: String = #filePath) throws -> [UInt8] {
        let tests = URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent()
        return Array(try Data(contentsOf: tests.appendingPathComponent("Fixtures").appendingPathComponent(path)))
    }

    static func text(_ path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }

    static func certificate(_ path: String) throws -> Certificate { try Certificate(der: bytes(path)) }

    /// A constant of Apple's unit tests.
    static func constant(_ name: String) throws -> Certificate {
        try certificate("apple/unit-test-constants/\(name).der")
    }
}
