/// One value of a result: its type and its bytes in PostgreSQL's binary form.
struct Cell {
    let type: UInt32
    let bytes: ArraySlice<UInt8>
}

/// Why a value cannot be read as what was asked for. Never holds the value.
struct ColumnProblem: Error {
    let text: String

    static func wrongType(_ type: UInt32, wanted: String) -> ColumnProblem {
        ColumnProblem(text: "is \(TypeOID.describe(type)), not \(wanted)")
    }

    static let malformed = ColumnProblem(text: "has a malformed binary value")
}

/// Readers of PostgreSQL's binary forms (the `…send` functions of its sources).
enum BinaryDecoding {
    static func text(_ cell: Cell) throws(ColumnProblem) -> String {
        switch cell.type {
        case TypeOID.text, TypeOID.varchar, TypeOID.bpchar, TypeOID.name, TypeOID.unknown, TypeOID.json:
            return String(decoding: cell.bytes, as: UTF8.self)
        case TypeOID.firstUserDefined...: return String(decoding: cell.bytes, as: UTF8.self)
        default: throw .wrongType(cell.type, wanted: "text")
        }
    }

    static func json(_ cell: Cell) throws(ColumnProblem) -> String {
        switch cell.type {
        case TypeOID.json: return String(decoding: cell.bytes, as: UTF8.self)
        case TypeOID.jsonb:
            guard cell.bytes.first == 1 else { throw .malformed }  // the only version of jsonb's wire form
            return String(decoding: cell.bytes.dropFirst(), as: UTF8.self)
        default: throw .wrongType(cell.type, wanted: "json or jsonb")
        }
    }

    /// Reads every integer type: widening loses nothing.
    static func int8(_ cell: Cell) throws(ColumnProblem) -> Int64 {
        switch cell.type {
        case TypeOID.int8: return try integer(cell.bytes, Int64.self)
        case TypeOID.int4: return Int64(try integer(cell.bytes, Int32.self))
        case TypeOID.int2: return Int64(try integer(cell.bytes, Int16.self))
        default: throw .wrongType(cell.type, wanted: "bigint")
        }
    }

    static func int4(_ cell: Cell) throws(ColumnProblem) -> Int32 {
        switch cell.type {
        case TypeOID.int4: return try integer(cell.bytes, Int32.self)
        case TypeOID.int2: return Int32(try integer(cell.bytes, Int16.self))
        default: throw .wrongType(cell.type, wanted: "integer")
        }
    }

    static func bool(_ cell: Cell) throws(ColumnProblem) -> Bool {
        guard cell.type == TypeOID.bool else { throw .wrongType(cell.type, wanted: "boolean") }
        guard let byte = cell.bytes.first, cell.bytes.count == 1 else { throw .malformed }
        return byte != 0
    }

    static func uuid(_ cell: Cell) throws(ColumnProblem) -> [UInt8] {
        guard cell.type == TypeOID.uuid else { throw .wrongType(cell.type, wanted: "uuid") }
        guard cell.bytes.count == 16 else { throw .malformed }
        return Array(cell.bytes)
    }

    static func bytes(_ cell: Cell) throws(ColumnProblem) -> [UInt8] {
        guard cell.type == TypeOID.bytea else { throw .wrongType(cell.type, wanted: "bytea") }
        return Array(cell.bytes)
    }

    /// Milliseconds since 1970, rounded down: PostgreSQL keeps microseconds.
    static func timestamp(_ cell: Cell) throws(ColumnProblem) -> Int64 {
        guard cell.type == TypeOID.timestamptz else { throw .wrongType(cell.type, wanted: "timestamptz") }
        let microseconds = try integer(cell.bytes, Int64.self)
        guard microseconds != .min, microseconds != .max else { throw ColumnProblem(text: "is infinite") }
        let (since1970, isTooLarge) = microseconds.addingReportingOverflow(EncodedParameters.microsecondsFrom1970To2000)
        guard !isTooLarge else { throw .malformed }
        let quotient = since1970 / 1_000
        return since1970 % 1_000 < 0 ? quotient - 1 : quotient
    }

    /// The elements of an array of at most one dimension, each read by `element`.
    static func array<Element>(
        _ cell: Cell, _ wanted: UInt32, _ element: (Cell) throws(ColumnProblem) -> Element
    ) throws(ColumnProblem) -> [Element?] {
        guard cell.type == wanted else { throw .wrongType(cell.type, wanted: TypeOID.describe(wanted)) }
        var rest = cell.bytes
        let dimensions = try next(&rest)
        _ = try next(&rest)  // whether there are NULLs: each element says so itself
        let type = UInt32(bitPattern: try next(&rest))
        guard dimensions != 0 else { return [] }
        guard dimensions == 1 else { throw ColumnProblem(text: "has \(dimensions) dimensions") }
        let count = try next(&rest)
        _ = try next(&rest)  // lower bound
        guard count >= 0, Int(count) <= rest.count / 4 else { throw .malformed }
        var elements: [Element?] = []
        elements.reserveCapacity(Int(count))
        for _ in 0..<count {
            let length = try next(&rest)
            guard length >= 0 else {
                elements.append(nil)
                continue
            }
            guard rest.count >= Int(length) else { throw .malformed }
            elements.append(try element(Cell(type: type, bytes: rest.prefix(Int(length)))))
            rest = rest.dropFirst(Int(length))
        }
        return elements
    }

    private static func next(_ rest: inout ArraySlice<UInt8>) throws(ColumnProblem) -> Int32 {
        guard rest.count >= 4 else { throw .malformed }
        let number = try integer(rest.prefix(4), Int32.self)
        rest = rest.dropFirst(4)
        return number
    }

    private static func integer<Number: FixedWidthInteger>(
        _ bytes: ArraySlice<UInt8>, _ type: Number.Type
    ) throws(ColumnProblem) -> Number {
        guard bytes.count == Number.bitWidth / 8 else { throw .malformed }
        return bytes.withUnsafeBytes { Number(bigEndian: $0.loadUnaligned(as: Number.self)) }
    }
}
