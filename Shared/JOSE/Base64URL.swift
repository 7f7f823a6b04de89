/// base64url without padding (RFC 4648 §5, RFC 7515 §2), strict and canonical.
///
/// Refused: `=`, `+`, `/`, white space, a lone last digit, and unused bits that are not zero. So two different
/// texts never stand for the same bytes, and a text can be rebuilt from its bytes.
public enum Base64URL {
    private static let alphabet = Base64Alphabet(last: "-_", isPadded: false)

    /// The text of `bytes`, as ASCII.
    public static func encode(_ bytes: [UInt8]) -> [UInt8] { alphabet.encode(bytes) }

    /// The text of `bytes`.
    public static func string(_ bytes: [UInt8]) -> String { String(decoding: alphabet.encode(bytes), as: UTF8.self) }

    /// The bytes of `text`, or nil if it is not the one text for them.
    public static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? { alphabet.decode(text) }

    /// The bytes of `text`, or nil if it is not the one text for them.
    public static func decode(_ text: String) -> [UInt8]? { alphabet.decode(Array(text.utf8)[...]) }
}

/// Standard base64 with padding (RFC 4648 §4), strict and canonical: the form of `x5c` (RFC 7515 §4.1.6).
public enum Base64 {
    private static let alphabet = Base64Alphabet(last: "+/", isPadded: true)

    /// The text of `bytes`.
    public static func encode(_ bytes: [UInt8]) -> String { String(decoding: alphabet.encode(bytes), as: UTF8.self) }

    /// The bytes of `text`, or nil if it is not the one text for them.
    public static func decode(_ text: String) -> [UInt8]? { alphabet.decode(Array(text.utf8)[...]) }

    /// The bytes of `text`, or nil if it is not the one text for them.
    public static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? { alphabet.decode(text) }
}
