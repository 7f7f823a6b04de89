import Testing

@testable import CSV

/// RFC 4180, strictly.
@Suite struct CSVReaderTests {
    private static func read(_ text: String, limits: CSVReader.Limits = .init()) -> CSVTable {
        CSVReader.read(Array(text.utf8), limits: limits)
    }

    static let wellFormed: [(String, [[String]])] = [
        ("", []), ("a", [["a"]]), ("a,b", [["a", "b"]]), ("a,b\n", [["a", "b"]]),
        ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]),
        (",", [["", ""]]), ("a,,", [["a", "", ""]]), ("\n\na\n\r\n\nb\n", [["a"], ["b"]]),
        ("\u{FEFF}a,b", [["a", "b"]]),
        ("\"a\",\"b\"", [["a", "b"]]), ("\"\"", [[""]]), ("\"a,b\",c", [["a,b", "c"]]),
        ("\"say \"\"hi\"\"\",x", [["say \"hi\"", "x"]]), ("\"a\r\nb\",c\nd,e", [["a\r\nb", "c"], ["d", "e"]]),
        (" a ,b ", [[" a ", "b "]]), ("小宝石包（60钻）,中\n", [["小宝石包（60钻）", "中"]]), ("a\tb", [["a\tb"]]),
        ("\"\"\"\"", [["\""]]), ("a,\"\"", [["a", ""]]), ("'a','b'", [["'a'", "'b'"]]),
    ]

    @Test(arguments: wellFormed)
    func `commas, quotes, line ends, a byte order mark and any language are read (C-003)`(
        text: String, values: [[String]]
    ) {
        let table = Self.read(text)
        #expect(table.problems == [])
        #expect(table.records.map { $0.fields.map(\.text) } == values)
    }

    static let malformed: [(String, Int, Int, String)] = [
        ("a\"b,c", 1, 2, "a quote inside a value"), ("\"a\"b,c", 1, 1, "followed by more text"),
        ("x,\"a", 1, 3, "never closed"), ("a\rb", 1, 2, "control character"), ("a,b\u{0}", 1, 4, "control character"),
        ("\"a\u{7}\"", 1, 3, "control character"), ("ok\n中,\"x\" ,y", 2, 3, "followed by more text"),
        ("a\n\"b\nc\"d\n", 2, 1, "closed in line 3 and followed"),
    ]

    @Test(arguments: malformed)
    func `what is not so is told with its line and column`(text: String, line: Int, column: Int, message: String) throws
    {
        let problem = try #require(Self.read(text).problems.first)
        #expect(problem.line == line && problem.column == column, "\(problem)")
        #expect(problem.message.contains(message), "\(problem)")
    }

    @Test func `every bad line is told, and the good ones between them are read`() {
        let table = Self.read("a,b\nx\"y\nc,d\n\"open\ne,f\n\"z\"z\ng,h\n")
        #expect(table.problems.map(\.line) == [2, 4, 6])
        #expect(table.records.map(\.line) == [1, 3, 5, 7])
    }

    @Test func `a quote that is never closed costs its own line only`() {
        let table = Self.read("a\n\"b\nc\nd\n")
        #expect(table.problems.map(\.line) == [2])
        #expect(table.records.map(\.line) == [1, 3, 4])
    }

    @Test func `what is not UTF-8 is told where it stands`() {
        let table = CSVReader.read(Array("a,".utf8) + [0xC4, 0xE3] + Array("\nb,c\n".utf8))
        #expect(
            table.problems == [
                CSVProblem(line: 1, column: 3, message: "this is not UTF-8: save the file as UTF-8")
            ])
        #expect(table.records.map(\.line) == [2])
    }

    @Test func `columns count characters, lines count line ends in quotes too`() throws {
        let table = Self.read("中文,\"a\nb\",c\nd")
        let first = try #require(table.records.first)
        #expect(first.fields.map(\.line) == [1, 1, 2] && first.fields.map(\.column) == [1, 4, 4])
        #expect(table.records.last?.line == 3)
    }

    @Test func `a file, a line, a value and the number of problems have limits`() {
        var limits = CSVReader.Limits()
        (limits.bytes, limits.records, limits.fields, limits.fieldBytes, limits.problems) = (30, 3, 2, 5, 2)
        #expect(
            Self.read(String(repeating: "a", count: 31), limits: limits).problems.first?.message.contains("longer")
                == true)
        #expect(Self.read("a\nb\nc\nd", limits: limits).problems.first?.message.contains("more than 3 lines") == true)
        #expect(Self.read("a,b,c", limits: limits).problems.first?.message.contains("more than 2 values") == true)
        #expect(Self.read("aaaaaa", limits: limits).problems.first?.message.contains("more than 5 bytes") == true)
        #expect(Self.read("\"\n\"x\n\"y\n\"z", limits: limits).problems.count == 2)
    }
}
