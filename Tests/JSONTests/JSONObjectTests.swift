import JSON
import Testing

@Suite struct JSONObjectTests {
    private let object: JSONObject = [
        "text": "a", "count": 3, "flag": true, "nothing": nil, "list": ["x", "y"], "mixed": ["x", 1],
        "inner": ["id": "7", "deep": ["when": 5]], "items": [["n": 1], ["n": "two"]],
    ]

    private func error(_ body: () throws -> Void) -> JSONError? {
        #expect(throws: JSONError.self, performing: body)
    }

    @Test func `typed access returns what is there`() throws {
        #expect(try object.string("text") == "a")
        #expect(try object.int64("count") == 3)
        #expect(try object.bool("flag"))
        #expect(try object.strings("list") == ["x", "y"])
        #expect(try object.optionalString("nothing") == nil)
        #expect(try object.optionalInt64("absent") == nil)
        #expect(try object.object("inner").string("id") == "7")
        #expect(try object.int64("count", in: 1...3) == 3)
    }

    @Test func `an absent and a null member are missing`() {
        #expect(error { _ = try object.string("absent") } == JSONError(.missing, path: "absent"))
        #expect(error { _ = try object.string("nothing") } == JSONError(.missing, path: "nothing"))
    }

    @Test func `another type is refused, also for optional members`() {
        #expect(error { _ = try object.optionalString("count") } == JSONError(.wrongType, path: "count"))
        #expect(error { _ = try object.int64("text") } == JSONError(.wrongType, path: "text"))
        #expect(error { _ = try object.bool("count") } == JSONError(.wrongType, path: "count"))
        #expect(error { _ = try object.strings("mixed") } == JSONError(.wrongType, path: "mixed[1]"))
        #expect(error { _ = try object.int64("count", in: 4...9) } == JSONError(.outOfRange, path: "count"))
    }

    @Test(arguments: ["1.0", "1e2", "-0", "9223372036854775808"])
    func `an inexact integer is refused with its path (S11)`(_ number: String) throws {
        let object = try JSONReader.parseObject(Array("{\"quantity\":\(number)}".utf8))
        #expect(error { _ = try object.optionalInt64("quantity") } == JSONError(.notAnInteger, path: "quantity"))
    }

    @Test func `errors of inner objects carry the whole path`() {
        let deep = error {
            try object.read("inner") { inner throws(JSONError) in
                try inner.read("deep") { deep throws(JSONError) in _ = try deep.string("when") }
            }
        }
        #expect(deep == JSONError(.wrongType, path: "inner.deep.when"))
        #expect(deep?.description == "json.wrong_type at inner.deep.when")
        let item = error {
            _ = try object.readEach("items") { item throws(JSONError) in try item.int64("n") }
        }
        #expect(item == JSONError(.wrongType, path: "items[1].n"))
    }

    @Test func `setting a key replaces its value in place`() {
        var changed: JSONObject = ["a": 1, "b": 2]
        changed.set("a", 3)
        changed.set("c", 4)
        #expect(changed.keys == ["a", "b", "c"])
        #expect(changed["a"] == 3)
    }
}
