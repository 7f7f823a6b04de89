/// Reads comma-separated values by RFC 4180, strictly, in UTF-8.
///
/// A byte order mark is skipped, as are empty lines; lines end with LF or CRLF. A value that holds a comma, a quote or a
/// line break stands in quotes, a quote in it is doubled. What is not so is a problem with its place, and reading goes on
/// with the next line, so that one run shows every bad line. Pure: no files, no clock; time grows with the bytes only.
public struct CSVReader {
    /// What a file may have at most. More is a mistake, or somebody's attempt to fill memory.
    public struct Limits: Sendable {
        /// Bytes of the file: ten thousand products of a hundred bytes.
        public var bytes = 1 << 20
        /// Records.
        public var records = 20_000
        /// Values of a record.
        public var fields = 64
        /// Bytes of a value.
        public var fieldBytes = 8_192
        /// Problems that are told.
        public var problems = 1_000

        /// The defaults.
        public init() {}
    }

    private static let quote = UInt8(ascii: "\"")
    private static let comma = UInt8(ascii: ",")
    private static let lineFeed: UInt8 = 0x0A
    private static let carriageReturn: UInt8 = 0x0D
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// A place in the file.
    private struct Place {
        var index = 0
        var line = 1
        var column = 1
    }

    private let bytes: [UInt8]
    private let limits: Limits
    private var place = Place()
    private var table = CSVTable()

    /// Reads a file's bytes.
    public static func read(_ bytes: [UInt8], limits: Limits = Limits()) -> CSVTable {
        var reader = CSVReader(bytes: bytes, limits: limits)
        reader.run()
        return reader.table
    }

    private init(bytes: [UInt8], limits: Limits) {
        (self.bytes, self.limits) = (bytes, limits)
    }

    private mutating func run() {
        guard bytes.count <= limits.bytes else {
            return report(Place(), "the file is longer than \(limits.bytes) bytes")
        }
        if bytes.starts(with: Self.byteOrderMark) { place.index = Self.byteOrderMark.count }
        while place.index < bytes.count {
            if takeLineEnd() { continue }
            guard table.records.count < limits.records else {
                return report(place, "more than \(limits.records) lines of values")
            }
            guard table.problems.count < limits.problems else { return }
            let start = place
            do throws(CSVProblem) {
                table.records.append(try record())
            } catch {
                table.problems.append(error)
                // From the line after the one that is wrong, however far a quote that does not end has led.
                place = start
                while place.index < bytes.count, bytes[place.index] != Self.lineFeed { advance() }
            }
        }
    }

    private mutating func record() throws(CSVProblem) -> CSVRecord {
        let start = place
        var fields: [CSVRecord.Field] = []
        while true {
            guard fields.count < limits.fields else { throw problem(place, "more than \(limits.fields) values") }
            fields.append(try field())
            guard place.index < bytes.count else { break }
            if bytes[place.index] == Self.comma { advance() } else if takeLineEnd() { break }
        }
        return CSVRecord(line: start.line, fields: fields)
    }

    /// One value, up to the comma or line end after it.
    private mutating func field() throws(CSVProblem) -> CSVRecord.Field {
        let start = place
        let isQuoted = current == Self.quote
        let content = isQuoted ? try quoted() : try plain()
        guard content.count <= limits.fieldBytes else {
            throw problem(start, "a value of more than \(limits.fieldBytes) bytes")
        }
        guard let text = String(validating: content, as: UTF8.self) else {
            throw problem(start, "this is not UTF-8: save the file as UTF-8")
        }
        return CSVRecord.Field(text: text, line: start.line, column: start.column)
    }

    private mutating func plain() throws(CSVProblem) -> ArraySlice<UInt8> {
        let start = place.index
        while let byte = current, byte != Self.comma, !isLineEnd {
            if byte == Self.quote {
                throw problem(place, "a quote inside a value: put the whole value in quotes and double this one")
            }
            if isControl(byte) { throw problem(place, "a control character") }
            advance()
        }
        return bytes[start..<place.index]
    }

    private mutating func quoted() throws(CSVProblem) -> ArraySlice<UInt8> {
        let start = place
        var content: [UInt8] = []
        advance()
        while let byte = current {
            guard byte == Self.quote else {
                let isBreak = byte == Self.lineFeed || byte == Self.carriageReturn
                if !isBreak, isControl(byte) { throw problem(place, "a control character") }
                content.append(byte)
                advance()
                continue
            }
            advance()
            guard current == Self.quote else {
                guard current == nil || current == Self.comma || isLineEnd else {
                    throw problem(
                        start, "the quote that opens here is closed in line \(place.line) and followed by more text")
                }
                return content[...]
            }
            content.append(Self.quote)
            advance()
        }
        throw problem(start, "the quote that opens here is never closed")
    }

    private var current: UInt8? { place.index < bytes.count ? bytes[place.index] : nil }

    /// Whether the line ends here: LF or CRLF.
    private var isLineEnd: Bool {
        guard let byte = current else { return false }
        return byte == Self.lineFeed
            || byte == Self.carriageReturn && place.index + 1 < bytes.count && bytes[place.index + 1] == Self.lineFeed
    }

    /// Tabs are text; a carriage return alone is not.
    private func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7F }

    private mutating func takeLineEnd() -> Bool {
        guard isLineEnd else { return false }
        if current == Self.carriageReturn { advance() }
        advance()
        return true
    }

    private mutating func advance() {
        let byte = bytes[place.index]
        place.index += 1
        if byte == Self.lineFeed {
            place.line += 1
            place.column = 1
        } else if byte & 0xC0 != 0x80 {
            // Bytes that continue a character are no columns.
            place.column += 1
        }
    }

    private func problem(_ place: Place, _ message: String) -> CSVProblem {
        CSVProblem(line: place.line, column: place.column, message: message)
    }

    private mutating func report(_ place: Place, _ message: String) {
        table.problems.append(problem(place, message))
    }
}
