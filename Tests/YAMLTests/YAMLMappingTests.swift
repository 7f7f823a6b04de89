import Testing
import YAML

@Suite struct YAMLMappingTests {
    private static func read(_ yaml: String, _ body: (YAMLMapping) -> Void) throws -> [String] {
        let problems = YAMLProblems()
        let node = try #require(YAMLReader.parse(Array(yaml.utf8), file: "f", problems: problems))
        body(try #require(YAMLMapping(node, problems)))
        return problems.all.map(\.description)
    }

    @Test func `typed access returns what is there`() throws {
        let yaml = """
            text: no
            number: -5
            flag: true
            kind: b
            list: [1, x]
            inner: {a: 1}
            empty:
            """
        let problems = try Self.read(yaml) { root in
            #expect(root.text("text")?.text == "no")
            #expect(root.int64("number", in: -9...9) == -5)
            #expect(root.bool("flag", absent: false))
            #expect(root.choice("kind", [("a", 1), ("b", 2)]) == 2)
            #expect(root.texts("list", "any") { _ in true }.map(\.text) == ["1", "x"])
            #expect(root.mapping("inner")?.int64("a", in: 0...1) == 1)
            #expect(root.optionalText("empty") == nil)
            #expect(root.optionalText("absent") == nil)
            #expect(root.optionalItems("absent").isEmpty)
            #expect(root.bool("absent", absent: true))
            root.finish()
        }
        #expect(problems == [])
    }

    @Test func `every mistake is collected with its place`() throws {
        let yaml = """
            number: 07
            large: 10
            quoted: "5"
            flag: yes
            kind: z
            list: []
            twice: [a, a]
            scalar: {a: 1}
            unknown: 1
            """
        let problems = try Self.read(yaml) { root in
            _ = root.int64("number", in: 0...9)
            _ = root.int64("large", in: 0...9)
            _ = root.int64("quoted", in: 0...9)
            _ = root.bool("flag", absent: false)
            _ = root.choice("kind", [("a", 1), ("b", 2)])
            _ = root.items("list")
            _ = root.texts("twice", "x") { _ in true }
            _ = root.text("scalar")
            _ = root.text("absent")
            root.finish()
        }
        #expect(
            problems == [
                "f:1:1: absent is missing", "f:1:9: number must be a whole number",
                "f:2:8: large must be between 0 and 9", "f:3:9: quoted must be a whole number",
                "f:4:7: flag must be true or false", "f:5:7: kind must be one of: a, b",
                "f:6:7: list must have at least one item", "f:7:12: twice lists a twice",
                "f:8:9: scalar must be a text", "f:9:1: unknown key unknown",
            ])
    }

    @Test(arguments: ["+1", "1_000", "0x10", "1.0", "1e3", "-0", "9223372036854775808", "'1'"])
    func `only plain decimal digits are a whole number`(_ text: String) throws {
        let problems = try Self.read("n: \(text)") { #expect($0.int64("n", in: .min ... .max) == nil) }
        #expect(problems == ["f:1:4: n must be a whole number"])
    }
}
