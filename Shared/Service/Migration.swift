import Crypto

/// One numbered step of a service's schema. Forward only: a step that was released is never changed, only followed.
public struct Migration: Sendable, Equatable {
    /// 1, 2, 3, … without gaps.
    public let version: Int
    /// What it does, from the file's name.
    public let name: String
    /// The script. It runs inside a transaction of its own and must not end it.
    public let sql: String

    /// A step from its parts.
    public init(version: Int, name: String, sql: String) {
        self.version = version
        self.name = name
        self.sql = sql
    }

    /// A step from a file embedded in the program.
    /// - Parameters:
    ///   - file: its name, `V001_what_it_does.sql`. (The letter is there because `.embedInCode` drops a leading digit.)
    ///   - bytes: its content, UTF-8.
    /// - Throws: `invalidFile`.
    public init(file: String, bytes: [UInt8]) throws(MigrationError) {
        let parts = file.split(separator: "_", maxSplits: 1)
        guard parts.count == 2, parts[0].first == "V", parts[1].hasSuffix(".sql"),
            let version = Int(parts[0].dropFirst()), version > 0,
            let sql = String(validating: bytes, as: UTF8.self), !sql.utf8.contains(0)
        else { throw .invalidFile(file) }
        self.init(version: version, name: String(parts[1].dropLast(4)), sql: sql)
    }

    /// SHA-256 of the script in hexadecimal: tells whether a step was changed after it was applied.
    public var checksum: String { Hex.encode(SHA256.hash(sql)) }
}
