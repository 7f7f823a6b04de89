import JSON
import Testing

@Suite struct JSONReaderTests {
    private static func parse(_ text: String) throws(JSONError) -> JSONValue {
        try JSONReader.parse(Array(text.utf8))
    }

    static let accepted: [(String, JSONValue)] = [
        ("null", .null), ("true", true), ("false", false), (" \t\r\n1 ", 1), ("\"\"", ""), ("[]", []), ("{}", [:]),
        ("[1, 2,3 ]", [1, 2, 3]), (#"{"a":{"b":[null]}}"#, ["a": ["b": [nil]]]),
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9\u20AC""#, "Aé€"),
        (#""\ud83d\ude00""#, "😀"), ("\"蛋饼😀é\"", "蛋饼😀é"), (#""蛋\n饼""#, "蛋\n饼"), ("\"\u{7F}\"", "\u{7F}"),
        (#"{"":1}"#, ["": 1]), (#"{"__proto__":1}"#, ["__proto__": 1]), ("\"\u{FEFF}\"", "\u{FEFF}"),
        (#""\uffff""#, "\u{FFFF}"), ("\"\u{10FFFF}\"", "\u{10FFFF}"),
    ]

    @Test(arguments: accepted) func `what RFC 8259 allows is read`(_ text: String, _ value: JSONValue) throws {
        #expect(try Self.parse(text) == value)
    }

    static let refused: [(String, JSONError.Kind, Int)] = [
        ("", .unexpectedEnd, 0), ("  ", .unexpectedEnd, 2), ("nul", .unexpectedEnd, 3), ("nulx", .unexpectedByte, 3),
        ("True", .unexpectedByte, 0), ("1 2", .trailingBytes, 2), ("{}x", .trailingBytes, 2),
        ("[1]]", .trailingBytes, 3),
        ("[1,]", .unexpectedByte, 3), ("[,1]", .unexpectedByte, 1), ("[1 2]", .unexpectedByte, 3),
        ("[", .unexpectedEnd, 1), ("[1", .unexpectedEnd, 2), ("{", .unexpectedEnd, 1), (#"{"a""#, .unexpectedEnd, 4),
        (#"{"a":"#, .unexpectedEnd, 5), (#"{"a":1"#, .unexpectedEnd, 6), (#"{"a":1,}"#, .unexpectedByte, 7),
        ("{a:1}", .unexpectedByte, 1), ("{'a':1}", .unexpectedByte, 1), (#"{"a" 1}"#, .unexpectedByte, 5),
        (#"{1:1}"#, .unexpectedByte, 1), ("//x\n1", .unexpectedByte, 0), ("[1/**/]", .unexpectedByte, 2),
        ("\"a", .unexpectedEnd, 2), ("\"a\nb\"", .controlCharacter, 2), ("\"\u{0}\"", .controlCharacter, 1),
        ("\"é\tb\"", .controlCharacter, 3), (#""\n"# + "\u{1}\"", .controlCharacter, 3),
        (#""\x41""#, .invalidEscape, 1),
        (#""\u12g4""#, .invalidEscape, 1), (#""\u12"#, .unexpectedEnd, 5), (#""\"#, .unexpectedEnd, 2),
        (#""a\u0000""#, .nulCharacter, 2), (#""\ud800""#, .loneSurrogate, 1), (#""\udc00\ud800""#, .loneSurrogate, 1),
        (#""\ud800x""#, .loneSurrogate, 1), (#""\ud800\n""#, .loneSurrogate, 1),
        (#""\ud800\ud800""#, .loneSurrogate, 1),
        (#""\ud800\u0041""#, .loneSurrogate, 1), ("\u{FEFF}{}", .byteOrderMark, 0), ("NaN", .unexpectedByte, 0),
        ("Infinity", .unexpectedByte, 0), ("-Infinity", .invalidNumber, 1), ("\u{C}1", .unexpectedByte, 0),
        ("\u{A0}1", .unexpectedByte, 0),
        (#"{"bundleId":"a","bundleId":"b"}"#, .duplicateKey, 16), (#"{"a":1,"\u0061":2}"#, .duplicateKey, 7),
        (#"{"a":{"b":1,"b":1}}"#, .duplicateKey, 12),
    ]

    @Test(arguments: refused) func `what is wrong is refused at its byte (S10)`(
        _ text: String, _ kind: JSONError.Kind, _ offset: Int
    ) {
        let error = #expect(throws: JSONError.self) { try Self.parse(text) }
        #expect(error == JSONError(kind, offset: offset))
    }

    static let numbers: [(String, JSONValue?)] = [
        ("0", 0), ("7", 7), ("-1", -1), ("9007199254740993", 9_007_199_254_740_993),
        ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
        ("504319184420155588", 504_319_184_420_155_588),
        ("9223372036854775808", nil), ("-9223372036854775809", nil), ("18446744073709551616", nil),
        ("100000000000000000000000000000", nil), ("1.0", nil), ("1e2", nil), ("1E+2", nil), ("-0", nil), ("-0.0", nil),
        ("1e400", nil), ("0.5e-3", nil), ("0e0", nil),
    ]

    @Test(arguments: numbers) func `only what is an exact 64-bit integer is an integer (S11, BR10)`(
        _ text: String, _ expected: JSONValue?
    ) throws {
        let value = try Self.parse(text)
        if let expected {
            #expect(value == expected)
        } else {
            guard case .number(let number) = value else {
                Issue.record("\(text) must stay a number in text")
                return
            }
            #expect(number.text == text)
            #expect(value.intValue == nil)
        }
    }

    static let badNumbers: [(String, JSONError.Kind, Int)] = [
        ("01", .invalidNumber, 1), ("-01", .invalidNumber, 2), ("-", .unexpectedEnd, 1), ("-a", .invalidNumber, 1),
        ("1.", .unexpectedEnd, 2), ("[1.]", .invalidNumber, 3), ("1e", .unexpectedEnd, 2), ("[1e+]", .invalidNumber, 4),
        (".5", .unexpectedByte, 0), ("+1", .unexpectedByte, 0), ("0x10", .trailingBytes, 1),
        ("1_000", .trailingBytes, 1),
    ]

    @Test(arguments: badNumbers) func `what is no number is refused`(
        _ text: String, _ kind: JSONError.Kind, _ offset: Int
    ) {
        let error = #expect(throws: JSONError.self) { try Self.parse(text) }
        #expect(error == JSONError(kind, offset: offset))
    }

    static let badUTF8: [([UInt8], Int)] = [
        ([0x80], 1), ([0xC0, 0xAF], 1), ([0xC1, 0x81], 1), ([0xC3], 1), ([0xC3, 0x28], 1), ([0xE0, 0x80, 0x80], 1),
        ([0xE2, 0x82], 1), ([0xED, 0xA0, 0x80], 1), ([0xF0, 0x80, 0x80, 0x80], 1), ([0xF4, 0x90, 0x80, 0x80], 1),
        ([0xF5, 0x80, 0x80, 0x80], 1), ([0xFF], 1), ([0x61, 0x62, 0xE2, 0x28, 0xA1], 3), ([0x5C, 0x6E, 0xFE], 3),
    ]

    @Test(arguments: badUTF8) func `invalid UTF-8 is refused at its byte (S10)`(_ bytes: [UInt8], _ offset: Int) {
        let quoted = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
        let error = #expect(throws: JSONError.self) { try JSONReader.parse(quoted) }
        #expect(error == JSONError(.invalidUTF8, offset: offset))
    }

    @Test func `a string is scanned rightly wherever its special byte falls`() throws {
        for length in 0..<40 {
            let plain = String(repeating: "x", count: length)
            #expect(try Self.parse("\"\(plain)\"") == .string(plain))
            #expect(try Self.parse("\"\(plain)\\n\(plain)\"") == .string("\(plain)\n\(plain)"))
            #expect(try Self.parse("\"\(plain)é\(plain)\"") == .string("\(plain)é\(plain)"))
            let error = #expect(throws: JSONError.self) { try Self.parse("\"\(plain)\u{1F}\(plain)\"") }
            #expect(error == JSONError(.controlCharacter, offset: length + 1))
        }
    }

    @Test func `keys that only look equal are different keys`() throws {
        let object = try JSONReader.parseObject(Array("{\"K\":1,\"\u{212A}\":2,\"\u{E9}\":3,\"e\u{301}\":4}".utf8))
        #expect(object.count == 4)
        #expect(object["K"] == 1)
    }

    @Test func `a slice is read with offsets from its own start`() throws {
        let bytes = Array("xx[1,]".utf8)
        let error = #expect(throws: JSONError.self) { try JSONReader.parse(bytes[2...]) }
        #expect(error?.offset == 3)
    }
}
