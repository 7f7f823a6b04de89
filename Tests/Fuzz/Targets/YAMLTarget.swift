import TestSupport
import YAML

/// YAML alone, without what an app's file must be.
struct YAMLTarget: FuzzTarget {
    let seeds: [[UInt8]]
    let words = [
        ":", ": ", "- ", "\n", "\n  ", "\t", "[", "]", "{", "}", "&a ", "*a", "<<: *a", "!!binary ", "!<x> ", "---\n",
        "...\n", "%YAML 1.2\n", "%TAG ! x\n", "|\n", "|9+\n", ">-\n", "'", "\"", "\\x", "\\U00110000", "# ", "? ", "~",
        "\u{FEFF}", "\u{0}", "\u{85}", "\u{2028}", "[[[[[[[[[[[[[[[[", "{a: {a: {a: ", "a: a: a: ",
    ]
    let longest = 64 << 10

    init(_ files: FuzzFiles) {
        let apps = FileBytes.folder("\(files.fixtures)/../../apps").filter { $0.name.hasSuffix(".yaml") }
        let texts = [
            "a: 1\n", "- a\n- {b: [c, d], e: 'f'}\n", "a: &x 1\nb: *x\n", "text: |\n  one\n  two\n", "? a\n: b\n",
        ]
        seeds = apps.map(\.bytes) + texts.map { Array($0.utf8) } + files.corpus("catalogue") + files.corpus("yaml")
    }

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        let problems = YAMLProblems()
        let node = YAMLReader.parse(input, file: "file.yaml", problems: problems)
        try Violation.unless(
            node != nil || !problems.isEmpty, "neither a document nor a problem")
        for problem in problems.all {
            let place = problem.position
            try Violation.unless(place.line >= 1 && place.column >= 1, "a problem without a place: \(problem)")
        }
        return node != nil && problems.isEmpty
    }
}
