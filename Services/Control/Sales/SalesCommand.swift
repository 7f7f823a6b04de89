import Messages
import SalesReports

/// `purser sales import`: what Apple counted as sold is handed in, to be compared with the books.
struct SalesCommand {
    static let usage = """
        usage: purser sales import --app ID --actor NAME [--sku SKU] [--dry-run] FILE

          FILE       a sales report (Sales, Summary; daily or monthly) as App Store Connect gives it, gzip or not; - for
                     standard input
          --sku      the app's SKU in App Store Connect: only purchases inside this app; without it all in the file
          --dry-run  shows what would be handed in
        """

    let output: (String) -> Void
    let environment: [String: String]

    /// What was asked for.
    struct Options: Equatable {
        let app: AppID
        let actor: String
        let sku: String?
        let isDryRun: Bool
        let file: String

        init(_ arguments: [String]) throws(WordProblem) {
            guard arguments.first == "import" else { throw WordProblem(text: "it imports") }
            let words = try CommandWords(
                Array(arguments.dropFirst()), values: ["--app", "--actor", "--sku"], flags: ["--dry-run"])
            app = AppID(try words.required("--app"))
            actor = try words.required("--actor")
            sku = words["--sku"]
            isDryRun = words.has("--dry-run")
            guard words.plain.count == 1, let file = words.plain.first else {
                throw WordProblem(text: "it takes one file")
            }
            self.file = file
        }
    }

    /// Exit code: 0 done, 1 not all of it handed in, 2 wrong usage, file or settings.
    nonisolated(nonsending) func run(arguments: [String]) async -> Int32 {
        let (options, summaries): (Options, [SalesSummary])
        do {
            options = try Options(arguments)
            summaries = try Self.read(options)
        } catch let problem as WordProblem {
            output("purser sales: \(problem.text)")
            output(Self.usage)
            return 2
        } catch {
            output("purser sales: \(error)")
            return 2
        }
        for summary in summaries {
            let units = summary.lines.map { ($0.sold, $0.refunded) }.reduce((0, 0)) { ($0.0 + $1.0, $0.1 + $1.1) }
            output(
                "\(summary.begin) to \(summary.end): \(summary.lines.count) products and storefronts, \(units.0) sold, "
                    + "\(units.1) given back")
        }
        if options.isDryRun { return 0 }
        let parts = summaries.flatMap { $0.parts(app: options.app, actor: options.actor) }
        return await Desk.with(environment, output) { desk in await handIn(parts, desk) }
    }

    private static func read(_ options: Options) throws -> [SalesSummary] {
        guard let bytes = SignedFile.read(options.file, limit: SalesReport.byteLimit) else {
            throw WordProblem(text: "\(options.file) cannot be read")
        }
        let summaries = try SalesSummary.all(of: SalesReport(bytes), parent: options.sku)
        guard !summaries.isEmpty else {
            throw WordProblem(
                text: "the report has no purchases inside " + (options.sku.map { "the app of SKU \($0)" } ?? "an app"))
        }
        return summaries
    }

    nonisolated(nonsending) private func handIn(_ parts: [SalesImportRequested], _ desk: Desk) async -> Int32 {
        do {
            try await desk.becomeReady()
            for part in parts {
                let answer = try await desk.ask(part, expecting: SalesImportAnswered.self, app: part.app)
                if answer.isComplete {
                    output("\(part.begin) to \(part.end): handed in, it is compared within a minute")
                }
            }
            return 0
        } catch {
            output("not all of it was handed in: \(error); do it again, what is there already stays as it is")
            return 1
        }
    }
}
