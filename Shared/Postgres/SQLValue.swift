/// A value bound to `$1`, `$2`, … of a statement. It travels in PostgreSQL's binary form, apart from the SQL text: nothing
/// is ever quoted or spliced.
///
/// The parameter has exactly the type named here, so a statement that wants another one casts (`$1::my_enum`); `null` and
/// `json` take the type the statement gives them.
public enum SQLValue: Sendable, Equatable {
    /// NULL of the type the statement expects.
    case null
    /// `text`. A NUL character is refused before sending: PostgreSQL cannot store it.
    case text(String)
    /// `bigint`.
    case int8(Int64)
    /// `integer`.
    case int4(Int32)
    /// `boolean`.
    case bool(Bool)
    /// `uuid`, exactly 16 bytes.
    case uuid([UInt8])
    /// `bytea`.
    case bytes([UInt8])
    /// `json` or `jsonb`, whichever the statement expects, as JSON text.
    case json(String)
    /// `timestamptz`.
    case timestamp(millisecondsSince1970: Int64)
    /// `text[]`.
    case textArray([String?])
    /// `bigint[]`.
    case int8Array([Int64?])
    /// `integer[]`.
    case int4Array([Int32?])
    /// `boolean[]`.
    case boolArray([Bool?])
    /// `uuid[]`, each 16 bytes.
    case uuidArray([[UInt8]?])
    /// `bytea[]`.
    case bytesArray([[UInt8]?])
    /// `timestamptz[]`, each in milliseconds since 1970.
    case timestampArray([Int64?])
}

extension SQLValue {
    /// Text, or NULL.
    public static func text(_ value: String?) -> SQLValue { value.map { .text($0) } ?? .null }
    /// `bigint`, or NULL.
    public static func int8(_ value: Int64?) -> SQLValue { value.map { .int8($0) } ?? .null }
    /// `integer`, or NULL.
    public static func int4(_ value: Int32?) -> SQLValue { value.map { .int4($0) } ?? .null }
    /// `boolean`, or NULL.
    public static func bool(_ value: Bool?) -> SQLValue { value.map { .bool($0) } ?? .null }
    /// `uuid`, or NULL.
    public static func uuid(_ value: [UInt8]?) -> SQLValue { value.map { .uuid($0) } ?? .null }
    /// `bytea`, or NULL.
    public static func bytes(_ value: [UInt8]?) -> SQLValue { value.map { .bytes($0) } ?? .null }
    /// JSON text, or NULL (the SQL one, not JSON's `null`).
    public static func json(_ value: String?) -> SQLValue { value.map { .json($0) } ?? .null }
    /// `timestamptz`, or NULL.
    public static func timestamp(millisecondsSince1970 value: Int64?) -> SQLValue {
        value.map { .timestamp(millisecondsSince1970: $0) } ?? .null
    }
}
