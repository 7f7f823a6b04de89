import Crypto
import Messages

/// What of a caller's texts may stand in a log line: no address, no token, nothing that is meant for a terminal.
enum LoggedText {
    /// Longest id that is written.
    private static let longest = 128
    /// Drawn at each start and kept nowhere, so that nobody can try out addresses against old logs.
    private static let key = (0..<32).map { _ in UInt8.random(in: .min ... .max) }

    /// What the app calls its user. An id that could be an address, or anything else than an id, is hashed: the same user
    /// has the same hash until the gateway ends.
    static func user(_ id: UserID) -> String {
        let text = id.rawValue
        if isID(text, besides: "._:|-") { return text }
        return "hashed:" + Hex.encode(HMAC.sha256(key: key, Array(text.utf8)).prefix(8))
    }

    /// A product id that a client wrote, nil if it does not look like one.
    static func product(_ text: String) -> String? { isID(text, besides: "._-") ? text : nil }

    /// A transaction id that a client wrote, nil if it is no number.
    static func number(_ text: String) -> String? {
        (1...20).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? text : nil
    }

    /// Letters, digits and some signs; not the beginning of a token.
    private static func isID(_ text: String, besides signs: String) -> Bool {
        (1...longest).contains(text.utf8.count) && !text.hasPrefix("eyJ")
            && text.unicodeScalars.allSatisfy { scalar in
                scalar.isASCII && (scalar.properties.isAlphabetic || (0x30...0x39).contains(scalar.value))
                    || signs.unicodeScalars.contains(scalar)
            }
    }
}
