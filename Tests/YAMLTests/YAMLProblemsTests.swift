import Testing
import YAML

@Suite struct YAMLProblemsTests {
    @Test func `a file with a mistake in each of its 80,000 lines is judged, all of them named once`() throws {
        let problems = YAMLProblems()
        let text = "a: 1\n" + String(repeating: "a: 1\n", count: 80_000)
        let root = YAMLReader.parse(Array(text.utf8), file: "a.yaml", problems: problems)
        #expect(root != nil)
        let all = problems.all
        #expect(all.count == 80_000)
        #expect(all.first?.position.line == 2 && all.last?.position.line == 80_001)
        let again = YAMLReader.parse(Array(text.utf8), file: "a.yaml", problems: problems)
        #expect(again != nil && problems.all.count == 80_000)
    }
}
