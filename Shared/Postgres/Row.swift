/// One row of a result. The getters name the column and throw `unreadableColumn` if it is missing, NULL (except the
/// `optional…` ones) or of another type: nothing is converted silently.
public struct Row: Sendable {
    let storage: Rows.Storage
    let index: Int

    /// Whether the column is NULL.
    public func isNull(_ column: String) throws(PostgresError) -> Bool {
        try cell(column) == nil
    }

    /// `text`, `varchar`, `name`, `json`, or an enum.
    public func text(_ column: String) throws(PostgresError) -> String {
        try required(column, BinaryDecoding.text)
    }

    /// `text`, `varchar`, `name`, `json`, or an enum; NULL is `nil`.
    public func optionalText(_ column: String) throws(PostgresError) -> String? {
        try optional(column, BinaryDecoding.text)
    }

    /// `bigint`, `integer` or `smallint`.
    public func int8(_ column: String) throws(PostgresError) -> Int64 {
        try required(column, BinaryDecoding.int8)
    }

    /// `bigint`, `integer` or `smallint`; NULL is `nil`.
    public func optionalInt8(_ column: String) throws(PostgresError) -> Int64? {
        try optional(column, BinaryDecoding.int8)
    }

    /// `integer` or `smallint`.
    public func int4(_ column: String) throws(PostgresError) -> Int32 {
        try required(column, BinaryDecoding.int4)
    }

    /// `integer` or `smallint`; NULL is `nil`.
    public func optionalInt4(_ column: String) throws(PostgresError) -> Int32? {
        try optional(column, BinaryDecoding.int4)
    }

    /// `boolean`.
    public func bool(_ column: String) throws(PostgresError) -> Bool {
        try required(column, BinaryDecoding.bool)
    }

    /// `boolean`; NULL is `nil`.
    public func optionalBool(_ column: String) throws(PostgresError) -> Bool? {
        try optional(column, BinaryDecoding.bool)
    }

    /// `uuid`, 16 bytes.
    public func uuid(_ column: String) throws(PostgresError) -> [UInt8] {
        try required(column, BinaryDecoding.uuid)
    }

    /// `uuid`, 16 bytes; NULL is `nil`.
    public func optionalUUID(_ column: String) throws(PostgresError) -> [UInt8]? {
        try optional(column, BinaryDecoding.uuid)
    }

    /// `bytea`.
    public func bytes(_ column: String) throws(PostgresError) -> [UInt8] {
        try required(column, BinaryDecoding.bytes)
    }

    /// `bytea`; NULL is `nil`.
    public func optionalBytes(_ column: String) throws(PostgresError) -> [UInt8]? {
        try optional(column, BinaryDecoding.bytes)
    }

    /// `json` or `jsonb` as JSON text.
    public func json(_ column: String) throws(PostgresError) -> String {
        try required(column, BinaryDecoding.json)
    }

    /// `json` or `jsonb` as JSON text; NULL is `nil`.
    public func optionalJSON(_ column: String) throws(PostgresError) -> String? {
        try optional(column, BinaryDecoding.json)
    }

    /// `timestamptz` in milliseconds since 1970, rounded down.
    public func timestampMilliseconds(_ column: String) throws(PostgresError) -> Int64 {
        try required(column, BinaryDecoding.timestamp)
    }

    /// `timestamptz` in milliseconds since 1970, rounded down; NULL is `nil`.
    public func optionalTimestampMilliseconds(_ column: String) throws(PostgresError) -> Int64? {
        try optional(column, BinaryDecoding.timestamp)
    }

    /// `text[]`.
    public func textArray(_ column: String) throws(PostgresError) -> [String?] {
        try array(column, TypeOID.textArray, BinaryDecoding.text)
    }

    /// `bigint[]`.
    public func int8Array(_ column: String) throws(PostgresError) -> [Int64?] {
        try array(column, TypeOID.int8Array, BinaryDecoding.int8)
    }

    /// `integer[]`.
    public func int4Array(_ column: String) throws(PostgresError) -> [Int32?] {
        try array(column, TypeOID.int4Array, BinaryDecoding.int4)
    }

    /// `boolean[]`.
    public func boolArray(_ column: String) throws(PostgresError) -> [Bool?] {
        try array(column, TypeOID.boolArray, BinaryDecoding.bool)
    }

    /// `uuid[]`.
    public func uuidArray(_ column: String) throws(PostgresError) -> [[UInt8]?] {
        try array(column, TypeOID.uuidArray, BinaryDecoding.uuid)
    }

    /// `bytea[]`.
    public func bytesArray(_ column: String) throws(PostgresError) -> [[UInt8]?] {
        try array(column, TypeOID.byteaArray, BinaryDecoding.bytes)
    }

    /// `timestamptz[]` in milliseconds since 1970, each rounded down.
    public func timestampMillisecondsArray(_ column: String) throws(PostgresError) -> [Int64?] {
        try array(column, TypeOID.timestamptzArray, BinaryDecoding.timestamp)
    }

    private func cell(_ name: String) throws(PostgresError) -> Cell? {
        guard let column = storage.columns.firstIndex(where: { $0.name == name }) else {
            throw .unreadableColumn(name: name, problem: "is not in the result")
        }
        guard let bytes = storage.value(row: index, column: column) else { return nil }
        return Cell(type: storage.columns[column].type, bytes: bytes)
    }

    private func optional<Value>(
        _ column: String, _ decode: (Cell) throws(ColumnProblem) -> Value
    ) throws(PostgresError) -> Value? {
        guard let cell = try cell(column) else { return nil }
        do {
            return try decode(cell)
        } catch {
            throw .unreadableColumn(name: column, problem: error.text)
        }
    }

    private func required<Value>(
        _ column: String, _ decode: (Cell) throws(ColumnProblem) -> Value
    ) throws(PostgresError) -> Value {
        guard let value = try optional(column, decode) else {
            throw .unreadableColumn(name: column, problem: "is NULL")
        }
        return value
    }

    private func array<Element>(
        _ column: String, _ type: UInt32, _ element: (Cell) throws(ColumnProblem) -> Element
    ) throws(PostgresError) -> [Element?] {
        try required(column) { (cell) throws(ColumnProblem) in try BinaryDecoding.array(cell, type, element) }
    }
}
