/// PostgreSQL's object identifiers of the built-in types used here (fixed for ever, `src/include/catalog/pg_type.dat`).
enum TypeOID {
    /// Let the server infer the type from the statement.
    static let inferred: UInt32 = 0
    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let name: UInt32 = 19
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let json: UInt32 = 114
    static let unknown: UInt32 = 705
    static let boolArray: UInt32 = 1000
    static let byteaArray: UInt32 = 1001
    static let int4Array: UInt32 = 1007
    static let textArray: UInt32 = 1009
    static let int8Array: UInt32 = 1016
    static let bpchar: UInt32 = 1042
    static let varchar: UInt32 = 1043
    static let timestamptz: UInt32 = 1184
    static let timestamptzArray: UInt32 = 1185
    static let numeric: UInt32 = 1700
    static let uuid: UInt32 = 2950
    static let uuidArray: UInt32 = 2951
    static let jsonb: UInt32 = 3802
    /// Types made by users (enums) have identifiers from here on (`FirstNormalObjectId`).
    static let firstUserDefined: UInt32 = 16_384

    /// A name for error texts.
    static func describe(_ type: UInt32) -> String {
        names[type] ?? "type \(type)"
    }

    private static let names: [UInt32: String] = [
        bool: "boolean", bytea: "bytea", name: "name", int8: "bigint", int2: "smallint", int4: "integer",
        text: "text", json: "json", boolArray: "boolean[]", byteaArray: "bytea[]", int4Array: "integer[]",
        textArray: "text[]", int8Array: "bigint[]", varchar: "varchar", timestamptz: "timestamptz",
        timestamptzArray: "timestamptz[]", numeric: "numeric (cast it: sum(bigint) is numeric)", uuid: "uuid",
        uuidArray: "uuid[]", jsonb: "jsonb",
    ]
}
