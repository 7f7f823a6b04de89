import AppStore

/// Reads BER as receipts have it: lengths of any form, also indefinite ones, and texts in pieces.
///
/// Nothing is believed: a length never reaches beyond what is around it, and depth and number of the elements read are
/// bounded, so the time for any input is. A value belongs to one thread.
struct BERDocument {
    /// Deepest nesting: a receipt's certificates, which OpenSSL reads, have 10; the rest has 8.
    static let maximumDepth = 32
    /// Elements that the shortest document may have: see ``maximumElements``.
    private static let fewElements = 64

    /// The document.
    let bytes: [UInt8]
    private var elements = 0
    /// Elements read: an element has two bytes at least and eight in the mean, and one inside an indefinite length is
    /// read once more for each such length around it. With this limit the time grows with the length only.
    private let maximumElements: Int

    /// Reads `bytes`.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        maximumElements = bytes.count + Self.fewElements
    }

    /// The whole document.
    var start: BERCursor { BERCursor(position: 0, end: bytes.count, depth: 0) }

    /// The bytes of a place.
    subscript(range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }

    /// The next element, whatever it is; the cursor moves behind it.
    mutating func next(_ cursor: inout BERCursor) throws(VerificationFailure) -> BERElement {
        let header = try header(at: cursor.position, end: cursor.end, depth: cursor.depth)
        let element: BERElement
        if let length = header.length {
            let end = header.content + length
            element = BERElement(
                tag: header.tag, whole: cursor.position..<end, content: header.content..<end, depth: cursor.depth)
        } else {
            let end = try endOfIndefinite(from: header.content, end: cursor.end, depth: cursor.depth + 1)
            element = BERElement(
                tag: header.tag, whole: cursor.position..<end + 2, content: header.content..<end, depth: cursor.depth)
        }
        cursor.position = element.whole.upperBound
        return element
    }

    /// The next element, which must have this tag.
    mutating func next(
        _ cursor: inout BERCursor, _ tag: UInt8, _ name: String
    ) throws(VerificationFailure) -> BERElement {
        let position = cursor.position
        let element = try next(&cursor)
        guard element.tag == tag else {
            throw Self.malformed("\(name) is expected at byte \(position), something else stands there")
        }
        return element
    }

    /// The next element if it has this tag.
    mutating func nextIf(_ cursor: inout BERCursor, _ tag: UInt8) throws(VerificationFailure) -> BERElement? {
        guard !cursor.isAtEnd, bytes[cursor.position] == tag else { return nil }
        return try next(&cursor)
    }

    /// Nothing may be left.
    func finish(_ cursor: BERCursor, _ name: String) throws(VerificationFailure) {
        guard cursor.isAtEnd else {
            throw Self.malformed("\(cursor.end - cursor.position) superfluous bytes at the end of \(name)")
        }
    }

    /// The bytes of an octet string, in one piece or several.
    mutating func octets(_ element: BERElement) throws(VerificationFailure) -> ArraySlice<UInt8> {
        if element.tag == BERTag.octets { return bytes[element.content] }
        guard element.tag == BERTag.octetPieces else { throw Self.malformed("a text of bytes is expected") }
        var collected: [UInt8] = []
        var cursor = element.inside
        while !cursor.isAtEnd {
            let piece = try next(&cursor)
            // The only piece is not copied.
            if collected.isEmpty, cursor.isAtEnd { return try octets(piece) }
            collected += try octets(piece)
        }
        return collected[...]
    }

    /// A failure to read.
    static func malformed(_ detail: String) -> VerificationFailure {
        VerificationFailure(.format, .format, "the receipt is no well-formed container: \(detail)")
    }

    /// Tag, place of the content and its length; nil is an indefinite one.
    private mutating func header(
        at position: Int, end: Int, depth: Int
    ) throws(VerificationFailure) -> (tag: UInt8, content: Int, length: Int?) {
        guard depth <= Self.maximumDepth else { throw Self.malformed("nested deeper than \(Self.maximumDepth) levels") }
        elements += 1
        guard elements <= maximumElements else { throw Self.malformed("too many elements for its length") }
        guard end - position >= 2 else { throw Self.malformed("it ends at byte \(position), inside an element") }
        let tag = bytes[position]
        // 31 says that the number follows in further bytes: receipts have no such tag.
        guard tag & 0x1F != 0x1F else { throw Self.malformed("an unknown tag at byte \(position)") }
        let first = bytes[position + 1]
        if first < 0x80 { return (tag, position + 2, try checked(Int(first), from: position + 2, end: end)) }
        if first == 0x80 {
            guard tag & 0x20 != 0 else { throw Self.malformed("an indefinite length without elements") }
            return (tag, position + 2, nil)
        }
        let count = Int(first & 0x7F)
        let content = position + 2 + count
        // Four bytes hold more than the largest receipt; leading zeros are BER, but nobody writes them.
        guard count <= 4, content <= end else { throw Self.malformed("a length of \(count) bytes") }
        let length = bytes[position + 2..<content].reduce(0) { $0 << 8 | Int($1) }
        return (tag, content, try checked(length, from: content, end: end))
    }

    private func checked(_ length: Int, from content: Int, end: Int) throws(VerificationFailure) -> Int {
        guard length <= end - content else { throw Self.malformed("a length reaches beyond its surroundings") }
        return length
    }

    /// Where the two zero bytes stand that end an indefinite length.
    private mutating func endOfIndefinite(from start: Int, end: Int, depth: Int) throws(VerificationFailure) -> Int {
        var position = start
        while true {
            let header = try header(at: position, end: end, depth: depth)
            if header.tag == 0, header.length == 0 { return position }
            if let length = header.length {
                position = header.content + length
            } else {
                position = try endOfIndefinite(from: header.content, end: end, depth: depth + 1) + 2
            }
        }
    }
}
