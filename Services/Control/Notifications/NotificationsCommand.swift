/// `purser notifications list|show|redrive`: what Apple told, and telling it again.
///
/// Listing and showing only read, as role `purser_auditor`; a re-drive is a request like any other.
struct NotificationsCommand {
    static let usage = [ListOptions.usage, ShowOptions.usage, RedriveCommand.usage].joined(separator: "\n\n")

    let output: (String) -> Void
    let environment: [String: String]

    /// Exit code: 0 done, 1 not found, not all told, or unreachable, 2 wrong usage or settings.
    nonisolated(nonsending) func run(arguments: [String]) async -> Int32 {
        let rest = Array(arguments.dropFirst())
        switch arguments.first {
        case "list": return list(rest)
        case "show": return show(rest)
        case "redrive": return await RedriveCommand(output: output, environment: environment).run(arguments: arguments)
        default:
            output(Self.usage)
            return 2
        }
    }

    private func list(_ arguments: [String]) -> Int32 {
        let options: ListOptions
        do throws(WordProblem) {
            options = try ListOptions(arguments)
        } catch {
            return refuse("list", error, ListOptions.usage)
        }
        return ReadingDesk.with(environment, for: "notifications", output) { connection in
            let page = try NotificationPage.read(options, on: &connection)
            for line in options.isJSON ? [page.json] : page.lines { output(line) }
            return 0
        }
    }

    private func show(_ arguments: [String]) -> Int32 {
        let options: ShowOptions
        do throws(WordProblem) {
            options = try ShowOptions(arguments)
        } catch {
            return refuse("show", error, ShowOptions.usage)
        }
        return ReadingDesk.with(environment, for: "notifications", output) { connection in
            let report = try NotificationReport.read(options, on: &connection)
            for line in options.isJSON ? [report.json(options)] : report.lines(options) { output(line) }
            return report.isEmpty ? 1 : 0
        }
    }

    private func refuse(_ command: String, _ problem: WordProblem, _ usage: String) -> Int32 {
        output("purser notifications \(command): \(problem.text)")
        output(usage)
        return 2
    }
}

/// Why the words after a command cannot be understood.
struct WordProblem: Error, Equatable { let text: String }
