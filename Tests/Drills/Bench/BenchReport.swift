import Glibc
import JSON

/// All that a bench finds: printed as tables for people, written as JSON for scripts.
struct BenchReport {
    /// A table whose rows add up.
    struct Breakdown {
        /// What it divides.
        let title: String
        /// The unit of its numbers.
        let unit: String
        /// Places and their shares.
        let rows: [(place: String, value: Double, note: String)]
        /// The name of the sum.
        let total: String
    }

    /// Facts of the machine.
    var machine: Machine
    private(set) var measurements: [Measurement] = []
    private(set) var breakdowns: [Breakdown] = []
    /// What the reader must know to trust the numbers.
    private(set) var notes: [String] = []
    /// Wrong answers and failures: with any, no number counts.
    private(set) var errors: [String] = []

    /// An empty report.
    init(machine: Machine) { self.machine = machine }

    /// Adds a line.
    mutating func add(_ measurement: Measurement) { measurements.append(measurement) }
    /// Adds a table.
    mutating func add(_ breakdown: Breakdown) { breakdowns.append(breakdown) }
    /// Adds a remark.
    mutating func note(_ text: String) { notes.append(text) }
    /// Adds a failure.
    mutating func fail(_ text: String) { errors.append(text) }

    /// 0: everything reached or without a number; 1: errors; 3: something missed.
    var exitCode: Int32 {
        if !errors.isEmpty { return 1 }
        return measurements.contains { $0.verdict == .missed } ? 3 : 0
    }

    /// The tables.
    func print() {
        Swift.print("")
        for line in machine.lines { Swift.print(line) }
        Swift.print("")
        let rows = measurements.map { row in
            [
                row.name, row.value.map { Decimal.text($0) + unit(row) } ?? "-", row.wanted, row.verdict.rawValue,
                row.how,
            ]
        }
        printTable([["measured", "value", "target", "", "how"]] + rows)
        for breakdown in breakdowns { print(breakdown) }
        for note in notes { Swift.print("note: \(note)") }
        for error in errors { Swift.print("ERROR: \(error)") }
        let missed = measurements.filter { $0.verdict == .missed }.map(\.name)
        let absent = measurements.filter { $0.verdict == .notMeasured }.map(\.name)
        if !missed.isEmpty { Swift.print("MISSED: \(missed.joined(separator: ", "))") }
        if !absent.isEmpty { Swift.print("not measured: \(absent.joined(separator: ", "))") }
        if missed.isEmpty, errors.isEmpty { Swift.print("every target that was measured is reached") }
    }

    private func unit(_ row: Measurement) -> String { row.unit.isEmpty ? "" : " " + row.unit }

    private func print(_ breakdown: Breakdown) {
        Swift.print("\n\(breakdown.title) (\(breakdown.unit))")
        let sum = breakdown.rows.reduce(0) { $0 + $1.value }
        let rows = breakdown.rows.map { [$0.place, Decimal.text($0.value), $0.note] }
        printTable(rows + [[breakdown.total, Decimal.text(sum), ""]])
    }

    /// Columns as wide as their widest cell; the last one as it comes.
    private func printTable(_ rows: [[String]]) {
        let columns = rows.first?.count ?? 0
        let widths = (0..<columns).map { column in rows.map { $0[column].count }.max() ?? 0 }
        for row in rows {
            let cells = row.enumerated().map { column, cell in
                column == columns - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }
            Swift.print("  " + cells.joined(separator: "  "))
        }
    }
}

extension BenchReport {
    /// Writes everything to a file; `false` if it cannot.
    func write(to path: String) -> Bool {
        let bytes = JSONWriter.write(json) + [UInt8(ascii: "\n")]
        // Readable by everybody: nothing in it is secret.
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { return false }
        defer { close(file) }
        return Glibc.write(file, bytes, bytes.count) == bytes.count
    }

    private var json: JSONObject {
        let rows = measurements.map { row -> JSONValue in
            .object([
                "name": .string(row.name), "value": row.value.flatMap(Self.number) ?? .null,
                "unit": .string(row.unit), "target": .string(row.wanted), "verdict": .string(row.verdict.rawValue),
                "how": .string(row.how),
            ])
        }
        let tables = breakdowns.map { table -> JSONValue in
            let rows = table.rows.map { row -> JSONValue in
                .object(["place": .string(row.place), "value": Self.number(row.value) ?? .null])
            }
            return .object(["title": .string(table.title), "unit": .string(table.unit), "rows": .array(rows)])
        }
        return [
            "machine": .object(machine.json), "measurements": .array(rows), "breakdowns": .array(tables),
            "notes": .array(notes.map { .string($0) }), "errors": .array(errors.map { .string($0) }),
        ]
    }

    /// A number in JSON; nil for infinities.
    static func number(_ value: Double) -> JSONValue? { JSONNumber(value).map { .number($0) } }
}
