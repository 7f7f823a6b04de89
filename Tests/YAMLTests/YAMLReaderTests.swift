import Testing
import YAML

@Suite struct YAMLReaderTests {
    private static func parse(_ text: String) -> (node: YAMLNode?, problems: [String]) {
        let problems = YAMLProblems()
        let node = YAMLReader.parse(Array(text.utf8), file: "f.yaml", problems: problems)
        return (node, problems.all.map(\.description))
    }

    /// A node as text, to compare trees.
    private static func text(_ node: YAMLNode?) -> String {
        switch node?.content {
        case .scalar(let text, let isPlain): isPlain ? text : "'\(text)'"
        case .sequence(let items): "[" + items.map { self.text($0) }.joined(separator: ",") + "]"
        case .mapping(let entries):
            "{" + entries.map { "\($0.key):\(self.text($0.value))" }.joined(separator: ",") + "}"
        case nil: "-"
        }
    }

    static let accepted: [(String, String)] = [
        ("a: 1\nb: [x, 'y', \"z\\n\"]\n", "{a:1,b:[x,'y','z\n']}"), ("- a\n- b: c\n  d:\n", "[a,{b:c,d:}]"),
        ("text", "text"), ("a: |\n  one\n  two\n", "{a:'one\ntwo\n'}"), ("# c\na: 1 # d\n", "{a:1}"),
        ("---\na: 蛋饼\n...\n", "{a:蛋饼}"), ("{a: no, b: 0x1, c: ~}", "{a:no,b:0x1,c:~}"), ("'<<': 1", "{<<:1}"),
    ]

    @Test(arguments: accepted) func `what people mean by YAML is read, scalars stay text`(
        _ yaml: String, _ tree: String
    ) {
        let (node, problems) = Self.parse(yaml)
        #expect(problems == [])
        #expect(Self.text(node) == tree)
    }

    static let refused: [(String, String)] = [
        ("", "f.yaml:1:1: the file is empty"), ("# only a comment\n", "the file is empty"),
        ("a: 1\na: 2\n", "f.yaml:2:1: the key a was already given in line 1"),
        ("a: {b: 1, b: 2}\n", "f.yaml:1:11: the key b was already given in line 1"),
        ("a: &x 1\n", "f.yaml:1:4: anchors (&name) are not allowed"),
        ("a: &x 1\nb: *x\n", "f.yaml:2:4: aliases (*name)"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "f.yaml:3:3: merge keys (<<)"), ("a: !!int 1\n", "f.yaml:1:4: tags (!name)"),
        ("a: !mine [1]\n", "tags (!name)"), ("%YAML 1.1\n---\na: 1\n", "directives"),
        ("? [a, b]\n: 1\n", "f.yaml:1:3: a key must be a plain text"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2:1: only one document"),
        ("a: [1, 2\nb: 3\n", "f.yaml:2:"), ("a: 'x\n", "f.yaml:2:1: "), ("a:\n\t- b\n", "f.yaml:2:1: "),
        ("a: b: c\n", "f.yaml:1:5: "), ("a: \u{0}\n", "f.yaml:1:"), ("\u{FEFF}a: 1\n", "byte order mark"),
    ]

    @Test(arguments: refused) func `what can be read in two ways is refused with its place`(
        _ yaml: String, _ problem: String
    ) {
        let problems = Self.parse(yaml).problems
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
    }

    @Test(
        arguments: [[0xFF, 0xFE, 0x61, 0x00], [0x61, 0x3A, 0x20, 0xC3, 0x28], [0x61, 0x3A, 0x20, 0xED, 0xA0, 0x80]]
            as [[UInt8]])
    func `only UTF-8 is read`(_ bytes: [UInt8]) {
        let problems = YAMLProblems()
        _ = YAMLReader.parse(bytes, file: "f.yaml", problems: problems)
        #expect(!problems.isEmpty)
    }

    @Test func `nesting ends at 32 levels and size at 1 MiB`() {
        let fits = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
        #expect(Self.parse(fits).problems == [])
        let deep = String(repeating: "[", count: 100_000)
        #expect(Self.parse(deep).problems == ["f.yaml:1:33: nested deeper than 32 levels"])
        let large = "a: " + String(repeating: "x", count: 1 << 20)
        #expect(Self.parse(large).problems == ["f.yaml:1:1: the file is longer than 1048576 bytes"])
        #expect(Self.parse("a: " + String(repeating: "x", count: 1_000_000)).problems == [])
    }

    @Test func `several mistakes are found in one reading`() {
        let problems = Self.parse("a: &x 1\na: !t 2\nb: *x\n").problems
        #expect(problems.count == 4)
    }

    @Test func `every prefix and every damaged byte of a file is read or refused, never more`() {
        let file = Array("id: x # c\nlist:\n  - {a: 'b', c: [1, 2]}\n  - \"d\\u00e9\"\ntext: |\n  one\n".utf8)
        for length in file.indices {
            _ = YAMLReader.parse(Array(file[..<length]), file: "f", problems: YAMLProblems())
            for byte in Array("{}[]:-&*!|>'\"%@`#?,\n\t ".utf8) + [0, 0x80, 0xFF] {
                var damaged = file
                damaged[length] = byte
                let problems = YAMLProblems()
                let node = YAMLReader.parse(damaged, file: "f", problems: problems)
                #expect(node != nil || !problems.isEmpty)
            }
        }
    }
}
