import AppStore

/// A set of numbered attributes: a receipt, or one purchase in it. The first of several with one number counts.
///
/// Source: developer.apple.com/library/archive, Receipt Fields. Numbers nobody knows are told, not read.
struct ReceiptAttributes {
    /// Bytes of a text at most; identifiers of Apple have at most 255 characters.
    static let longestText = 1_024

    /// What stands before a field's name in a failure.
    let owner: String
    private var values: [Int64: ArraySlice<UInt8>] = [:]
    /// The contents of those that may stand more than once.
    private(set) var repeated: [ArraySlice<UInt8>] = []
    /// All numbers that are there.
    var numbers: Set<Int64> { Set(values.keys) }

    /// Reads a set; the contents of those numbered `repeating` are kept all.
    init(_ bytes: ArraySlice<UInt8>, owner: String, repeating: Int64? = nil) throws(VerificationFailure) {
        self.owner = owner
        var document = BERDocument(Array(bytes))
        var cursor = document.start
        var outer = try document.next(&cursor)
        try document.finish(cursor, "the attributes")
        // Some writers put the text of bytes into a text of bytes.
        if outer.tag == BERTag.octets {
            cursor = outer.inside
            outer = try document.next(&cursor)
            try document.finish(cursor, "the attributes")
        }
        guard outer.tag == BERTag.set else { throw Self.unreadable("the attributes are no set") }
        var inside = outer.inside
        while !inside.isAtEnd {
            var fields = try document.next(&inside, BERTag.sequence, "an attribute").inside
            let number = try document.next(&fields, BERTag.integer, "an attribute's number")
            _ = try document.next(&fields, BERTag.integer, "an attribute's version")
            let value = try document.octets(document.next(&fields))
            try document.finish(fields, "an attribute")
            guard let number = Self.integer(document[number.content]) else {
                throw Self.unreadable("an attribute's number has more than 64 bits")
            }
            if number == repeating { repeated.append(value) }
            if values[number] == nil { values[number] = value }
        }
    }

    /// The bytes of a value as they are.
    func bytes(_ number: Int64) -> [UInt8]? { values[number].map(Array.init) }

    /// A text; nil if it is absent or empty.
    func text(_ number: Int64, _ name: String) throws(VerificationFailure) -> String? {
        guard let element = try element(number, name, [BERTag.utf8, BERTag.ia5, BERTag.printable]) else { return nil }
        if element.isEmpty { return nil }
        guard element.count <= Self.longestText, let text = String(validating: element, as: UTF8.self),
            text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        else { throw failure(name, "is not acceptable text") }
        return text
    }

    /// 1 to 20 digits.
    func identifier(_ number: Int64, _ name: String) throws(VerificationFailure) -> String? {
        guard let text = try text(number, name) else { return nil }
        guard Self.isIdentifier(text) else { throw failure(name, "is not 1 to 20 digits") }
        return text
    }

    /// Whether a text is 1 to 20 digits.
    static func isIdentifier(_ text: String) -> Bool {
        (1...20).contains(text.utf8.count)
            && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// An integer of 64 bits.
    func integer(_ number: Int64, _ name: String) throws(VerificationFailure) -> Int64? {
        guard let element = try element(number, name, [BERTag.integer]) else { return nil }
        guard let value = Self.integer(element) else { throw failure(name, "is no integer of 64 bits") }
        return value
    }

    /// Milliseconds since 1970; nil if it is absent or empty.
    func date(_ number: Int64, _ name: String) throws(VerificationFailure) -> Int64? {
        guard let text = try text(number, name) else { return nil }
        guard let value = ReceiptDate.milliseconds(text) else { throw failure(name, "is no date") }
        return value
    }

    /// What must be there.
    func required<Value>(_ value: Value?, _ name: String) throws(VerificationFailure) -> Value {
        guard let value else { throw failure(name, "is missing") }
        return value
    }

    /// A field that is not acceptable.
    func failure(_ name: String, _ problem: String) -> VerificationFailure {
        .field("\(owner)\(name)", problem)
    }

    private static func unreadable(_ detail: String) -> VerificationFailure {
        VerificationFailure(.format, .payload, "the receipt's content cannot be read: \(detail)")
    }

    private func element(
        _ number: Int64, _ name: String, _ tags: [UInt8]
    ) throws(VerificationFailure) -> ArraySlice<UInt8>? {
        guard let value = values[number], !value.isEmpty else { return nil }
        var document = BERDocument(Array(value))
        var cursor = document.start
        let element = try document.next(&cursor)
        guard cursor.isAtEnd, tags.contains(element.tag) else { throw failure(name, "is of another type") }
        return document[element.content]
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> Int64? {
        // More than eight bytes are too many, unless the first is a zero for the sign, which 64 bits do not need.
        guard let first = bytes.first, bytes.count <= 8 else { return nil }
        return bytes.reduce(first >= 0x80 ? -1 : 0) { $0 << 8 | Int64($1) }
    }
}
