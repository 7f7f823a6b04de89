import CPostgres

/// Copies libpq's results into values of Swift's.
extension Wire {
    /// The first line of libpq's message on the connection: the following ones may be DETAIL lines.
    borrowing func errorMessage() -> String {
        let message = currentMessage()
        let line = message.split(separator: "\n").first.map(String.init) ?? ""
        return line.isEmpty ? "no answer in time" : Self.bounded(line)
    }

    static func rows(_ result: OpaquePointer) -> Rows {
        let columnCount = PQnfields(result)
        let count = PQntuples(result)
        let columns = (0..<columnCount).map {
            Rows.Column(name: PQfname(result, $0).map { String(cString: $0) } ?? "", type: PQftype(result, $0))
        }
        var bytes: [UInt8] = []
        var starts: [Int] = []
        starts.reserveCapacity(Int(columnCount) * Int(count) + 1)
        for row in 0..<count {
            for column in 0..<columnCount {
                if PQgetisnull(result, row, column) == 1 {
                    starts.append(~bytes.count)
                    continue
                }
                starts.append(bytes.count)
                let value = UnsafeRawPointer(PQgetvalue(result, row, column))
                bytes.append(
                    contentsOf: UnsafeRawBufferPointer(start: value, count: Int(PQgetlength(result, row, column))))
            }
        }
        starts.append(bytes.count)
        return Rows(
            columns: columns, starts: starts, bytes: bytes, count: Int(count),
            commandTag: PQcmdStatus(result).map { String(cString: $0) } ?? "",
            affectedCount: PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0)
    }

    /// What the server reported; `nil` if the error is libpq's own (the connection is gone).
    static func report(_ result: OpaquePointer) -> PostgresError.ServerReport? {
        guard let sqlState = field(result, .sqlState) else { return nil }
        let message = field(result, .primaryMessage) ?? ""
        return PostgresError.ServerReport(
            sqlState: sqlState, message: withoutValues(message, sqlState: sqlState),
            constraint: field(result, .constraint), table: field(result, .table))
    }

    /// Whether the server ended the session with this error.
    static func isFatal(_ result: OpaquePointer) -> Bool {
        let severity = field(result, .severity)
        return severity == "FATAL" || severity == "PANIC"
    }

    /// Data exceptions quote the offending value in the primary message (`invalid input syntax for type uuid: "…"`,
    /// `value "…" is out of range`): only what comes before it is kept.
    static func withoutValues(_ message: String, sqlState: String) -> String {
        guard sqlState.hasPrefix("22") else { return bounded(message) }
        guard let end = message.firstIndex(where: { $0 == "\"" || $0 == ":" }) else { return bounded(message) }
        return bounded(String(message[..<end])) + "…"
    }

    /// Cut to what fits a log line.
    private static func bounded(_ message: String) -> String {
        message.count > 500 ? String(message.prefix(500)) + "…" : message
    }

    /// The parts of an error report (`PG_DIAG_…` in `postgres_ext.h`, whose character macros Swift cannot see).
    private enum ErrorField: UInt8 {
        case severity = 0x56  // "V", never translated
        case sqlState = 0x43  // "C"
        case primaryMessage = 0x4D  // "M"
        case table = 0x74  // "t"
        case constraint = 0x6E  // "n"
    }

    private static func field(_ result: OpaquePointer, _ field: ErrorField) -> String? {
        PQresultErrorField(result, Int32(field.rawValue)).map { String(cString: $0) }
    }
}
