import JSON
import Testing

@Suite struct JSONLimitsTests {
    @Test(arguments: ["[", #"{"a":"#]) func `a hundred thousand nested containers end at depth 32 (S09)`(_ open: String)
    {
        let bytes = Array(String(repeating: open, count: 100_000).utf8)
        let error = #expect(throws: JSONError.self) { try JSONReader.parse(bytes) }
        #expect(error == JSONError(.tooDeep, offset: 32 * open.utf8.count))
    }

    @Test func `exactly 32 levels are read`() throws {
        let text = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
        #expect(throws: Never.self) { try JSONReader.parse(Array(text.utf8)) }
    }

    @Test func `a million keys end at the 513th (S09)`() {
        var bytes: [UInt8] = Array("{".utf8)
        for index in 0..<1_000_000 { bytes.append(contentsOf: "\"\(index)\":0,".utf8) }
        let limits = JSONLimits(maximumBytes: bytes.count)
        let error = #expect(throws: JSONError.self) { try JSONReader.parse(bytes, limits: limits) }
        #expect(error?.kind == .tooManyKeys)
        #expect((error?.offset ?? .max) < 4_000)
    }

    @Test(arguments: [2, 31, 32, 33, 34, 100, 512]) func `a repeated key is found in objects of every size`(
        _ count: Int
    ) {
        for repeated in [0, (count - 1) / 2, count - 2] {
            var keys = (0..<count).map { "key\($0)" }
            keys[count - 1] = keys[repeated]
            let text = "{" + keys.map { "\"\($0)\":1" }.joined(separator: ",") + "}"
            let error = #expect(throws: JSONError.self) { try JSONReader.parse(Array(text.utf8)) }
            #expect(error?.kind == .duplicateKey)
        }
    }

    @Test func `512 keys are read and found again`() throws {
        let text = "{" + (0..<512).map { "\"key\($0)\":\($0)" }.joined(separator: ",") + "}"
        let object = try JSONReader.parseObject(Array(text.utf8))
        for index in 0..<512 { #expect(try object.int64("key\(index)") == Int64(index)) }
    }

    @Test func `more values than allowed are refused before they are read`() {
        let bytes = Array(("[" + String(repeating: "0,", count: 100_000) + "0]").utf8)
        let error = #expect(throws: JSONError.self) { try JSONReader.parse(bytes) }
        #expect(error?.kind == .tooManyValues)
    }

    @Test func `too many bytes are refused unread, a long string within the limit is read`() throws {
        let long = "\"" + String(repeating: "a", count: 1_000_000) + "\""
        #expect(try JSONReader.parse(Array(long.utf8)).stringValue?.utf8.count == 1_000_000)
        let error = #expect(throws: JSONError.self) {
            try JSONReader.parse(Array(long.utf8), limits: JSONLimits(maximumBytes: 1_000))
        }
        #expect(error == JSONError(.tooLarge, offset: 1_000))
    }
}
