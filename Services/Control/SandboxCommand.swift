import Messages
import Pipeline

/// `purser sandbox sweep`: what was bought in the sandbox leaves an app's wallets, and entitlements from it end.
///
/// The command only asks, page by page; Granting sweeps. Interrupted, or run again, it goes on with what is left.
struct SandboxCommand {
    static let usage = """
        usage: purser sandbox sweep --app APP [--older-than DAYS] --actor NAME [--dry-run]
          --older-than  only what was granted more than so many days ago; without it everything
        """

    let output: (String) -> Void
    let environment: [String: String]

    /// Ten years: more is a mistake.
    private static let mostDays: Int64 = 3_650
    private static let day: Int64 = 86_400_000

    /// The first page of what was asked for at `now` (ms since 1970); nil if the words are no usage.
    static func request(_ arguments: [String], now: Int64) -> SandboxSweepRequested? {
        guard arguments.first == "sweep",
            let words = try? CommandWords(
                Array(arguments.dropFirst()), values: ["--app", "--older-than", "--actor"], flags: ["--dry-run"]),
            words.plain.isEmpty,
            let app = words["--app"], let actor = words["--actor"]
        else { return nil }
        var days: Int64 = 0
        if let text = words["--older-than"] {
            guard let number = Int64(text), (0...mostDays).contains(number) else { return nil }
            days = number
        }
        return SandboxSweepRequested(
            app: AppID(app), sweep: UUIDText.random(), before: now - days * day, after: nil, actor: actor,
            isDryRun: words.has("--dry-run"))
    }

    /// Exit code: 0 done, 1 unreachable, 2 wrong usage or settings.
    nonisolated(nonsending) func run(arguments: [String]) async -> Int32 {
        guard let request = Self.request(arguments, now: WallClock.milliseconds) else {
            output(Self.usage)
            return 2
        }
        return await Desk.with(environment, output) { desk in await sweep(request, desk) }
    }

    nonisolated(nonsending) private func sweep(_ first: SandboxSweepRequested, _ desk: Desk) async -> Int32 {
        var request = first
        var (purchases, amounts): (Int64, [AssetID: Int64]) = (0, [:])
        do {
            try await desk.becomeReady()
            repeat {
                let answer = try await desk.ask(request, expecting: SandboxSweepAnswered.self, app: request.app)
                purchases += answer.purchases
                for part in answer.amounts { amounts[part.asset] = Self.sum(amounts[part.asset] ?? 0, part.amount) }
                request.after = answer.next
            } while request.after != nil
        } catch {
            output("stopped after \(purchases) purchase(s): \(error); run it again to go on")
            return 1
        }
        output("\(purchases) sandbox purchase(s) \(first.isDryRun ? "would be swept" : "swept")")
        for (asset, amount) in amounts.sorted(by: { $0.key < $1.key }) { output("  \(amount) \(asset)") }
        if !first.isDryRun { output("sweep \(first.sweep)") }
        return 0
    }

    private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }
}
