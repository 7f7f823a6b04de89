import Apps
import FoundationEssentials
import Messages

/// `purser catalog import [--yes] [--actor NAME] FILE`: shows what the file changes of the catalogue in force and, with
/// `--yes`, sends it. All or nothing: a file with a mistake changes nothing, and every mistake is named.
///
/// The import is a message like any other: refused if somebody else imported meanwhile, the same answer if it is
/// delivered twice, in force from Granting's commit.
struct CatalogCommand {
    static let usage = "usage: purser catalog import [--dry-run | --yes] [--actor NAME] FILE"

    let output: (String) -> Void
    let environment: [String: String]

    private struct Options {
        var isConfirmed = false
        var actor: String
        var file: String
    }

    /// Exit code: 0 done or nothing to do, 1 refused or unreachable, 2 wrong usage, settings or file.
    nonisolated(nonsending) func run(arguments: [String]) async -> Int32 {
        guard let options = parse(arguments) else {
            output(Self.usage)
            return 2
        }
        let url = URL(filePath: options.file)
        switch AppsDirectory.load(url.deletingLastPathComponent().path) {
        case .failure(let error):
            for problem in error.problems { output("\(problem)") }
            output("nothing was sent: \(error.problems.count) problem(s) in the apps' files")
            return 2
        case .success(let apps):
            let name = url.deletingPathExtension().lastPathComponent
            guard let app = apps.first(where: { $0.id.rawValue == name }) else {
                output("\(options.file) is no app's file; write the path of an apps/<id>.yaml")
                return 2
            }
            return await run(app, options)
        }
    }

    nonisolated(nonsending) private func run(_ app: AppConfiguration, _ options: Options) async -> Int32 {
        await Desk.with(environment, output) { desk in await exchange(app, options, desk) }
    }

    nonisolated(nonsending) private func exchange(_ app: AppConfiguration, _ options: Options, _ desk: Desk)
        async -> Int32
    {
        do {
            try await desk.becomeReady()
            let id = app.id
            let current = try await desk.ask(
                CatalogRequested(app: id), expecting: CatalogAnswered.self, app: id)
            let definition = app.catalog.definition
            let lines = CatalogDifference.lines(from: current.definition, to: definition)
            output("catalogue of \(app.id): version \(current.catalogVersion) in force, \(lines.count) change(s)")
            for line in lines { output("  \(line)") }
            guard !lines.isEmpty else { return 0 }
            guard options.isConfirmed else {
                output("nothing was sent; add --yes to import")
                return 0
            }
            let request = app.catalog.importRequest(
                app: id, actor: options.actor, expectedVersion: current.catalogVersion)
            return report(try await desk.ask(request, expecting: CatalogAnswered.self, app: id))
        } catch {
            output("not imported: \(error)")
            return 1
        }
    }

    private func report(_ answer: CatalogAnswered) -> Int32 {
        guard answer.problems.isEmpty else {
            for problem in answer.problems { output("refused: \(problem)") }
            return 1
        }
        output("imported: version \(answer.catalogVersion) is in force")
        return 0
    }

    private func parse(_ arguments: [String]) -> Options? {
        guard arguments.first == "import" else { return nil }
        var options = Options(actor: environment["USER"] ?? "unknown", file: "")
        var isDryRun = false
        var rest = arguments.dropFirst()
        while let word = rest.popFirst() {
            switch word {
            case "--yes": options.isConfirmed = true
            case "--dry-run": isDryRun = true
            case "--actor":
                guard let actor = rest.popFirst(), !actor.isEmpty else { return nil }
                options.actor = actor
            default:
                guard !word.hasPrefix("-"), options.file.isEmpty else { return nil }
                options.file = word
            }
        }
        return options.file.isEmpty || (isDryRun && options.isConfirmed) ? nil : options
    }
}
