import Crypto

/// A UUID as its 16 bytes, so that upper and lower case are the same value (RFC 9562).
public struct AppStoreUUID: Sendable, Hashable, CustomStringConvertible {
    /// The 16 bytes.
    public let bytes: [UInt8]

    /// Reads the form 8-4-4-4-12 in either case; nil for everything else.
    public init?(_ text: String) {
        let characters = Array(text.utf8)
        // Positions of the dashes in the only accepted form.
        let dashes = [8, 13, 18, 23]
        guard characters.count == 36, dashes.allSatisfy({ characters[$0] == UInt8(ascii: "-") }) else { return nil }
        let digits = characters.indices.filter { !dashes.contains($0) }.map { characters[$0] }
        guard let bytes = Hex.decode(String(decoding: digits, as: UTF8.self)) else { return nil }
        self.bytes = bytes
    }

    /// Takes 16 bytes; nil for another number.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Lower-case text.
    public var description: String {
        let digits = Array(Hex.encode(bytes).utf8)
        let groups = [digits[0..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20..<32]]
        return groups.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-")
    }
}
