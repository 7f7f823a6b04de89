/// Why a text is no acceptable JSON, or why a member is not what the program asked for.
///
/// Never contains a value that was read: only the kind, a byte offset (reading) or the path of member names that the
/// program itself asked for (typed access).
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong. The raw value is the last part of the stable code.
    public enum Kind: String, Sendable, Equatable, CaseIterable {
        /// More bytes than `JSONLimits.maximumBytes`.
        case tooLarge = "too_large"
        /// A byte order mark in front (RFC 8259 §8.1 forbids adding one).
        case byteOrderMark = "byte_order_mark"
        /// A byte that the grammar does not allow here.
        case unexpectedByte = "unexpected_byte"
        /// The text ends inside a value, or is empty.
        case unexpectedEnd = "unexpected_end"
        /// Something follows the value.
        case trailingBytes = "trailing_bytes"
        /// A string is not valid UTF-8 (overlong forms and encoded surrogates included).
        case invalidUTF8 = "invalid_utf8"
        /// A control character below U+0020 stands unescaped in a string.
        case controlCharacter = "control_character"
        /// A backslash is followed by something RFC 8259 §7 does not know.
        case invalidEscape = "invalid_escape"
        /// Half of a surrogate pair: no Unicode text.
        case loneSurrogate = "lone_surrogate"
        /// `\u0000`: PostgreSQL's text cannot hold it.
        case nulCharacter = "nul_character"
        /// Not a number by RFC 8259 §6: `01`, `1.`, `+1`, `-`.
        case invalidNumber = "invalid_number"
        /// More nested arrays and objects than `JSONLimits.maximumDepth`.
        case tooDeep = "too_deep"
        /// An object with more members than `JSONLimits.maximumKeys`.
        case tooManyKeys = "too_many_keys"
        /// More values than `JSONLimits.maximumValues`.
        case tooManyValues = "too_many_values"
        /// The same key twice in one object (RFC 7493 §2.3).
        case duplicateKey = "duplicate_key"
        /// A required member is absent or null.
        case missing = "missing"
        /// The member has another type than the program needs.
        case wrongType = "wrong_type"
        /// A number that is no 64-bit integer: `1.0`, `1e2`, `-0`, 2^63.
        case notAnInteger = "not_an_integer"
        /// An integer outside the range the program needs.
        case outOfRange = "out_of_range"
    }

    /// What is wrong.
    public let kind: Kind
    /// Where reading stopped: the offset of the offending byte, counted from 0. Nil for errors of typed access.
    public let offset: Int?
    /// The member names that lead to the value, joined by dots: `data.signedDate`, `items[3].id`. Empty for errors of
    /// reading, so that nothing a stranger wrote reaches a log.
    public let path: String

    /// A stable, dotted name: `json.duplicate_key`.
    public var code: String { "json.\(kind.rawValue)" }

    /// Always false: the same bytes are refused again.
    public var isRetryable: Bool { false }

    /// Kind and place, without any content.
    public var description: String {
        if let offset { return "\(code) at byte \(offset)" }
        return path.isEmpty ? code : "\(code) at \(path)"
    }

    /// An error of reading.
    public init(_ kind: Kind, offset: Int) {
        self.kind = kind
        self.offset = offset
        path = ""
    }

    /// An error of typed access.
    public init(_ kind: Kind, path: String) {
        self.kind = kind
        offset = nil
        self.path = path
    }

    /// The same error seen from one level further out.
    public func inside(_ outer: String) -> JSONError {
        guard offset == nil else { return self }
        if path.isEmpty { return JSONError(kind, path: outer) }
        return JSONError(kind, path: path.hasPrefix("[") ? outer + path : "\(outer).\(path)")
    }
}
