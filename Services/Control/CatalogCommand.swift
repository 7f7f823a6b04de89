import Apps
import FoundationEssentials
import Messages

/// `purser catalog import [--check | --dry-run | --yes] [--actor NAME] [--csv FILE --rewards FILE] [--app ID | FILE]`:
/// shows what an app's file changes of the catalogue in force and, with `--yes`, sends it. All or nothing: a file with a
/// mistake changes nothing, and every mistake is named with its line.
///
/// The import is a message like any other: refused if somebody else imported meanwhile, the same answer if it is
/// delivered twice, in force from Granting's commit.
struct CatalogCommand {
    static let usage = """
        usage: purser catalog import [--check | --dry-run | --yes] [--actor NAME] [--csv FILE --rewards FILE]
                                     [--app ID | FILE]
          FILE             the app's file, apps/<id>.yaml; --app ID means apps/ID.yaml
          --csv FILE       products from this file instead of those the app's file has or names,
          --rewards FILE   and what they give from this one
          --check          only looks for mistakes; nothing is asked and nothing sent
          --yes            sends what would change
        """

    let output: (String) -> Void
    let environment: [String: String]

    /// Exit code: 0 done or nothing to do, 1 refused or unreachable, 2 wrong usage, settings or file.
    nonisolated(nonsending) func run(arguments: [String]) async -> Int32 {
        guard let options = CatalogOptions(arguments, actor: environment["USER"] ?? "unknown") else {
            output(Self.usage)
            return 2
        }
        switch options.load() {
        case .failure(let problems):
            for problem in problems.lines { output(problem) }
            output("nothing was sent: \(problems.lines.count) problem(s) in the apps' files")
            return 2
        case .success(let app):
            guard !options.isCheck else {
                let definition = app.catalog.definition
                output(
                    "\(app.id) is fine: \(definition.products.count) product(s), \(definition.assets.count) asset(s); "
                        + "nothing was sent")
                return 0
            }
            return await Desk.with(environment, output) { desk in await exchange(app, options, desk) }
        }
    }

    nonisolated(nonsending) private func exchange(_ app: AppConfiguration, _ options: CatalogOptions, _ desk: Desk)
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
}
