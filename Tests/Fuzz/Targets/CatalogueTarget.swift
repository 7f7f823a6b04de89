import Apps
import Messages
import YAML

/// An app's file: YAML, and everything a catalogue has to keep.
struct CatalogueTarget: FuzzTarget {
    let seeds: [[UInt8]]
    let words = [
        ":", ": ", "-", "- ", "\n", "\n  ", "\t", "[", "]", "{", "}", "&a", "*a", "<<: *a", "!!str", "---\n", "...\n",
        "%YAML 1.2",
        "|\n", ">\n", "'", "\"", "#", "? ", "~", "null", "yes", "0x10", "0o7", "1e3", "-1", "9223372036854775808",
        "\u{FEFF}",
        "\u{0}", "\u{85}", "\u{2028}", "id: x\n", "hosts: [\"*\"]\n", "products: []\n", "[[[[[[[[[[[[[[[[",
        "{a: {a: {a: ",
    ]
    let longest = 64 << 10

    init(_ files: FuzzFiles) {
        let shipped = "\(files.fixtures)/../../apps/cloudpc.yaml"
        seeds = [FileBytes.read(shipped)] + files.corpus("catalogue")
    }

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        let problems = YAMLProblems()
        let parsed = AppFile.parse(input, path: "apps/cloudpc.yaml", problems: problems)
        for problem in problems.all {
            let place = problem.position
            try Violation.unless(place.line >= 1 && place.column >= 1, "a problem without a place: \(problem)")
        }
        guard problems.isEmpty else { return false }
        guard let app = parsed?.app else { throw Violation(what: "neither an app nor a problem") }
        try Violation.unless(
            app.id.rawValue == "cloudpc" && !app.bundleIDs.isEmpty, "an app that is not named as its file")
        return true
    }
}
