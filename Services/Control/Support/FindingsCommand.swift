import Messages
import Observability
import Postgres

/// `purser findings`: what Reconciliation has found. Listing and showing only read, as role `purser_auditor`; accepting
/// and re-driving are requests like any other.
struct FindingsCommand {
    static let usage = """
        usage: purser findings list [--state waiting|resolved|accepted|all] [--kind KIND] [--limit NUMBER]
               purser findings show ID
               purser findings accept ID --actor NAME --reason TEXT
               purser findings redrive ID --actor NAME --reason TEXT

          list     the newest first, those that wait and 50 of them without options; times are UTC
          show     one of them, with everything that was done about it; of parked messages the first with their reasons
          accept   it is opened no more while its cause lasts
          redrive  has its purchase decided anew now
        """

    let output: (String) -> Void
    let environment: [String: String]

    /// What was asked for.
    enum Request: Equatable {
        case list(states: [String], kind: String?, limit: Int64)
        case show(Int64)
        case accept(Int64, actor: String, reason: String)
        case redrive(Int64, actor: String, reason: String)
    }

    /// States by the word for them.
    private static let states = [
        "waiting": ["open", "redriven"], "resolved": ["resolved"], "accepted": ["accepted"],
        "all": ["open", "redriven", "resolved", "accepted"],
    ]
    /// More is for SQL.
    private static let mostRows: Int64 = 10_000

    /// Reads the words.
    static func request(_ arguments: [String]) throws(WordProblem) -> Request {
        let rest = Array(arguments.dropFirst())
        if arguments.first == "list" {
            let words = try CommandWords(rest, values: ["--state", "--kind", "--limit"])
            guard words.plain.isEmpty, let states = states[words["--state"] ?? "waiting"] else {
                throw WordProblem(text: "--state is waiting, resolved, accepted or all")
            }
            return .list(
                states: states, kind: words["--kind"],
                limit: try words.count("--limit", default: 50, limit: mostRows))
        }
        let words = try CommandWords(rest, values: ["--actor", "--reason"])
        guard words.plain.count == 1, let id = Int64(words.plain[0]), id > 0 else {
            throw WordProblem(text: "which finding? It takes one number")
        }
        switch arguments.first {
        case "show": return .show(id)
        case "accept":
            return .accept(id, actor: try words.required("--actor"), reason: try words.required("--reason"))
        case "redrive":
            return .redrive(id, actor: try words.required("--actor"), reason: try words.required("--reason"))
        default: throw WordProblem(text: "it lists, shows, accepts or redrives")
        }
    }

    /// Exit code: 0 done, 1 not found, not done or unreachable, 2 wrong usage or settings.
    nonisolated(nonsending) func run(arguments: [String]) async -> Int32 {
        let request: Request
        do throws(WordProblem) {
            request = try Self.request(arguments)
        } catch {
            output("purser findings: \(error.text)")
            output(Self.usage)
            return 2
        }
        switch request {
        case .list(let states, let kind, let limit): return list(states, kind, limit)
        case .show(let id): return show(id)
        case .accept(let id, let actor, let reason):
            return await ask(FindingAcceptRequested(finding: id, actor: actor, reason: reason))
        case .redrive(let id, let actor, let reason):
            return await ask(FindingRedriveRequested(finding: id, actor: actor, reason: reason))
        }
    }

    /// Lists. Blocks.
    func list(_ states: [String], _ kind: String?, _ limit: Int64) -> Int32 {
        ReadingDesk.with(environment, for: "findings", output) { connection in
            let rows = try connection.query(
                """
                SELECT id, severity, kind, state, attempts, opened_at, subject FROM reconciliation.findings
                WHERE state = ANY($1::text[]) AND ($2::text IS NULL OR kind = $2) ORDER BY id DESC LIMIT $3
                """, [.textArray(states.map { $0 }), .text(kind), .int8(limit)])
            let header = ["ID", "SEVERITY", "KIND", "STATE", "ATTEMPTS", "OPENED", "SUBJECT"]
            let cells = try rows.map { row -> [String?] in
                [
                    String(try row.int8("id")), try row.text("severity"), try row.text("kind"), try row.text("state"),
                    String(try row.int8("attempts")), TimeText.text(seconds: try row.int8("opened_at") / 1_000),
                    try row.text("subject"),
                ]
            }
            for line in TextTable.lines(header, cells) { output(line) }
            return 0
        }
    }

    /// Shows one. Blocks.
    func show(_ id: Int64) -> Int32 {
        ReadingDesk.with(environment, for: "findings", output) { connection in
            let found = try connection.query(
                "SELECT *, evidence::text AS seen FROM reconciliation.findings WHERE id = $1", [.int8(id)])
            guard let row = found.first else {
                output("there is no finding \(id)")
                return 1
            }
            output("finding \(id): \(try row.text("kind")), \(try row.text("severity")), \(try row.text("state"))")
            output("subject   \(TextTable.printable(try row.text("subject")))")
            output("app       \(try row.optionalText("app") ?? "-")")
            output("order     \(TextTable.printable(try row.optionalText("order_number") ?? "-"))")
            output("evidence  \(TextTable.printable(try row.text("seen")))")
            output("last seen \(TimeText.text(seconds: try row.int8("seen_at") / 1_000))")
            let events = try connection.query(
                "SELECT at, event, actor, reason FROM reconciliation.finding_events WHERE finding = $1 ORDER BY id",
                [.int8(id)])
            for event in events {
                let words = [try event.text("event"), "by", try event.text("actor") + ":", try event.text("reason")]
                output(
                    TimeText.text(seconds: try event.int8("at") / 1_000) + "  "
                        + TextTable.printable(words.joined(separator: " ")))
            }
            if try row.text("kind") == "messages_parked", try row.text("state") != "resolved" {
                showParked(try row.text("subject"))
            }
            return 0
        }
    }

    /// Why messages were parked, only they themselves tell, and only this program may look at them.
    private func showParked(_ parked: String) {
        let words = [String(parked.dropLast(".parked".count)), "--dry-run", "--limit", "20"]
        let isReachable = environment.keys.contains { $0.hasPrefix("PURSER_CONTROL_AMQP_URL") }
        guard isReachable else {
            output("reasons   purser replay " + words.dropLast(2).joined(separator: " "))
            return
        }
        output("reasons (message, type, why):")
        _ = ReplayCommand(output: { output("  " + $0) }, environment: environment).run(arguments: words)
    }

    nonisolated(nonsending) private func ask(_ request: some Message) async -> Int32 {
        await Desk.with(environment, output) { desk in
            do {
                try await desk.becomeReady()
                switch try await desk.ask(request, expecting: FindingAnswered.self, app: nil).outcome {
                case .accepted: output("accepted")
                case .redriven: output("its purchase is decided anew; look at it again in a minute")
                case .unknown:
                    output("not done: there is no such finding")
                    return 1
                case .ended:
                    output("not done: it is resolved or accepted already")
                    return 1
                case .notRedrivable:
                    output("not done: deciding again mends nothing of this kind")
                    return 1
                }
                return 0
            } catch {
                output("not done: \(error)")
                return 1
            }
        }
    }
}
