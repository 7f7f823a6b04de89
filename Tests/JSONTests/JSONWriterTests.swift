import JSON
import Testing

@Suite struct JSONWriterTests {
    static let table: [(JSONValue, String)] = [
        (nil, "null"), (true, "true"), (-5, "-5"), (.integer(.min), "-9223372036854775808"), ("", #""""#),
        ("a\"\\/\n\r\t\u{1}\u{1B}\u{7F}", #""a\"\\/\n\r\t\u0001\u001b\u007f""#), ("蛋饼😀", "\"蛋饼😀\""),
        ([1, [], [:]], "[1,[],{}]"), (["b": 1, "a": [nil]], #"{"b":1,"a":[null]}"#),
    ]

    @Test(arguments: table) func `values are written without white space and escaped`(
        _ value: JSONValue, _ text: String
    ) {
        #expect(String(decoding: JSONWriter.write(value), as: UTF8.self) == text)
    }

    @Test func `what was read is written back number for number`() throws {
        let text = #"{"a":1.0,"b":1e400,"c":-0,"d":9223372036854775808,"e":[0.10]}"#
        let value = try JSONReader.parse(Array(text.utf8))
        #expect(String(decoding: JSONWriter.write(value), as: UTF8.self) == text)
    }

    @Test func `a double is written exactly, an infinity never`() {
        #expect(JSONNumber(0.1)?.text == "0.1")
        #expect(JSONNumber(.infinity) == nil)
        #expect(JSONNumber(.nan) == nil)
    }
}
