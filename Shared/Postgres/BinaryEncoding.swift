/// The values of one statement in the form libpq wants them: one buffer, and for each value its type, place and length.
struct EncodedParameters {
    /// libpq's format codes.
    enum Format {
        static let text: Int32 = 0
        static let binary: Int32 = 1
    }

    /// All values one after the other. Never empty, so that it always has an address.
    private(set) var bytes: [UInt8] = [0]
    private(set) var types: [UInt32] = []
    /// Where a value begins; `nil` is NULL.
    private(set) var offsets: [Int?] = []
    private(set) var lengths: [Int32] = []
    private(set) var formats: [Int32] = []

    /// Microseconds between 1970, from which everyone counts, and 2000, from which PostgreSQL counts.
    static let microsecondsFrom1970To2000: Int64 = 946_684_800_000_000

    /// Encodes the values.
    /// - Throws: `invalidParameter` for what PostgreSQL could not store; nothing was sent then.
    init(_ values: [SQLValue]) throws(PostgresError) {
        for (index, value) in values.enumerated() {
            let start = bytes.count
            do {
                try append(value)
            } catch {
                throw .invalidParameter(number: index + 1, sqlState: error.sqlState, problem: error.text)
            }
            guard let length = Int32(exactly: bytes.count - start) else {
                throw .invalidParameter(number: index + 1, sqlState: "54000", problem: "larger than 2 GiB")
            }
            let isText = if case .json = value { true } else { false }
            let isNull = if case .null = value { true } else { false }
            types.append(value.type)
            offsets.append(isNull ? nil : start)
            lengths.append(length)
            formats.append(isText ? Format.text : Format.binary)
        }
    }

    /// Why a value cannot be sent, with the SQLSTATE the server would have answered.
    struct Problem: Error {
        let sqlState: String
        let text: String
        static let nul = Problem(sqlState: "22021", text: "text contains a NUL character")
        static let uuid = Problem(sqlState: "22P03", text: "a uuid has 16 bytes")
        static let time = Problem(sqlState: "22008", text: "time out of range")
    }

    private mutating func append(_ value: SQLValue) throws(Problem) {
        switch value {
        case .null: break
        case .text(let text): try append(text: text)
        case .int8(let number): append(number)
        case .int4(let number): append(number)
        case .bool(let flag): bytes.append(flag ? 1 : 0)
        case .uuid(let uuid): try append(uuid: uuid)
        case .bytes(let data): bytes.append(contentsOf: data)
        case .json(let text):
            try append(text: text)
            bytes.append(0)  // libpq measures values in text format by their terminating NUL
        case .timestamp(let milliseconds): try append(time: milliseconds)
        default: try append(array: value)
        }
    }

    private mutating func append(array value: SQLValue) throws(Problem) {
        switch value {
        case .textArray(let items):
            try append(items, of: TypeOID.text) { (out, text) throws(Problem) in try out.append(text: text) }
        case .int8Array(let items):
            try append(items, of: TypeOID.int8) { (out, number) throws(Problem) in out.append(number) }
        case .int4Array(let items):
            try append(items, of: TypeOID.int4) { (out, number) throws(Problem) in out.append(number) }
        case .boolArray(let items):
            try append(items, of: TypeOID.bool) { (out, flag) throws(Problem) in out.bytes.append(flag ? 1 : 0) }
        case .uuidArray(let items):
            try append(items, of: TypeOID.uuid) { (out, uuid) throws(Problem) in try out.append(uuid: uuid) }
        case .bytesArray(let items):
            try append(items, of: TypeOID.bytea) { (out, data) throws(Problem) in
                out.bytes.append(contentsOf: data)
            }
        case .timestampArray(let items):
            try append(items, of: TypeOID.timestamptz) { (out, time) throws(Problem) in try out.append(time: time) }
        default: break
        }
    }

    /// An array of one dimension (`array_send` in PostgreSQL's `arrayfuncs.c`): dimensions, has-nulls flag, element type,
    /// then size and lower bound, then each element with its length, −1 for NULL.
    private mutating func append<Element>(
        _ items: [Element?], of type: UInt32,
        _ encode: (inout EncodedParameters, Element) throws(Problem) -> Void
    ) throws(Problem) {
        append(Int32(items.isEmpty ? 0 : 1))
        append(Int32(items.contains { $0 == nil } ? 1 : 0))
        append(Int32(bitPattern: type))
        guard !items.isEmpty else { return }
        append(Int32(clamping: items.count))
        append(Int32(1))
        for item in items {
            guard let item else {
                append(Int32(-1))
                continue
            }
            let lengthAt = bytes.count
            append(Int32(0))
            try encode(&self, item)
            let length = UInt32(clamping: bytes.count - lengthAt - 4)
            for place in 0..<4 {
                bytes[lengthAt + place] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(place)))
            }
        }
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func append(text: String) throws(Problem) {
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        if bytes[start...].contains(0) { throw .nul }
    }

    private mutating func append(uuid: [UInt8]) throws(Problem) {
        guard uuid.count == 16 else { throw .uuid }
        bytes.append(contentsOf: uuid)
    }

    private mutating func append(time milliseconds: Int64) throws(Problem) {
        let (microseconds, isTooLarge) = milliseconds.multipliedReportingOverflow(by: 1_000)
        let (shifted, isTooSmall) = microseconds.subtractingReportingOverflow(Self.microsecondsFrom1970To2000)
        // The two extremes mean −infinity and infinity on the wire; the product can never be them by chance.
        guard !isTooLarge, !isTooSmall, shifted != .min, shifted != .max else { throw .time }
        append(shifted)
    }
}

extension SQLValue {
    /// The type announced to the server.
    var type: UInt32 {
        switch self {
        case .null, .json: TypeOID.inferred
        case .text: TypeOID.text
        case .int8: TypeOID.int8
        case .int4: TypeOID.int4
        case .bool: TypeOID.bool
        case .uuid: TypeOID.uuid
        case .bytes: TypeOID.bytea
        case .timestamp: TypeOID.timestamptz
        case .textArray: TypeOID.textArray
        case .int8Array: TypeOID.int8Array
        case .int4Array: TypeOID.int4Array
        case .boolArray: TypeOID.boolArray
        case .uuidArray: TypeOID.uuidArray
        case .bytesArray: TypeOID.byteaArray
        case .timestampArray: TypeOID.timestamptzArray
        }
    }
}
