/// What `purser audit` was asked.
struct AuditOptions: Equatable {
    static let usage = """
        usage: purser audit [--full | --since TIME] [--state FILE] [--grace SECONDS] [--limit N] [--json]

        Proves on the database, in one read-only snapshot, that the books add up, that everything was granted once and
        announced, and that nothing verified is lost. Changes nothing.

          --full           everything; what happens without --since and without a state file
          --since TIME     what is new since then: 2026-11-30T12:00:00Z or seconds since 1970
          --state FILE     what is new since the last clean audit with this file; a clean audit writes it
          --grace SECONDS  how long work may be under way before it counts (default 60)
          --limit N        findings printed for each check (default 20); all are counted
          --json           one JSON object instead of lines

        Exit status: 0 nothing found, 1 findings, 2 it could not be carried out.
        """

    /// Why a command line is refused.
    struct Problem: Error { var text: String }

    var isFull = false
    /// Ms since 1970.
    var since: Int64?
    var stateFile: String?
    /// Seconds. A minute: a lane gives a batch up and tries again within 15 s, the sweep comes after 15 s.
    var grace = 60
    var limit = 20
    var isJSON = false
    var wantsHelp = false

    init(_ arguments: [String]) throws(Problem) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--help", "-h": wantsHelp = true
            case "--full": isFull = true
            case "--json": isJSON = true
            case "--since":
                guard let seconds = TimeText.seconds(rest.popFirst() ?? "") else {
                    throw Problem(text: "--since must look like 2026-11-30T12:00:00Z, or be seconds since 1970")
                }
                since = seconds * 1_000
            case "--state":
                guard let file = rest.popFirst(), !file.isEmpty else { throw Problem(text: "--state needs a file") }
                stateFile = file
            // A week: longer than any outage that a queue is meant to bridge.
            case "--grace": grace = try Self.number(option, &rest, in: 0...604_800)
            case "--limit": limit = try Self.number(option, &rest, in: 0...100_000)
            default: throw Problem(text: "unknown option \(option)")
            }
        }
        guard !isFull || since == nil else { throw Problem(text: "--full and --since exclude each other") }
    }

    private static func number(
        _ option: String, _ rest: inout ArraySlice<String>, in range: ClosedRange<Int>
    ) throws(Problem) -> Int {
        guard let number = Int(rest.popFirst() ?? ""), range.contains(number) else {
            throw Problem(text: "\(option) must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
