import Messages
import Postgres

/// `purser users erase`: shows what is kept under a user's name, and has it taken out.
///
/// The erasure is a message that Granting and Verification get at once. Granting answers as soon as it is done there;
/// Verification goes on for a while, so what is shown afterwards tells when nothing is left.
struct EraseCommand {
    let output: (String) -> Void
    let environment: [String: String]

    /// Exit code: 0 done or shown, 1 unreachable, 2 wrong settings.
    nonisolated(nonsending) func run(_ options: EraseOptions) async -> Int32 {
        var kept: KeptOfUser?
        let code = ReadingDesk.with(environment, for: "users", output) { connection in
            let found = try KeptOfUser.read(options.app, options.user, &connection)
            show(found)
            kept = found
            return 0
        }
        guard code == 0, let kept else { return code }
        guard let decision = options.decision else {
            output(kept.isEmpty ? "nothing is kept under this name" : "nothing was changed; add --yes to erase")
            return 0
        }
        let request = UserEraseRequested(
            app: options.app, userID: options.user, formerIDs: kept.formerIDs, actor: decision.actor,
            reason: decision.reason)
        return await Desk.with(environment, output) { desk in await send(request, desk) }
    }

    nonisolated(nonsending) private func send(_ request: UserEraseRequested, _ desk: Desk) async -> Int32 {
        do {
            try await desk.becomeReady()
            let answer = try await desk.ask(request, expecting: UserEraseAnswered.self, app: request.app)
            output(
                answer.customer.map { "erased; the books stay under customer \($0)" } ?? "erased; there were no books")
            output("evidence follows within minutes: look again without --yes, until nothing is kept")
            return 0
        } catch {
            output("no answer: \(error); look again without --yes, and repeat it if the user is still there")
            return 1
        }
    }

    private func show(_ kept: KeptOfUser) {
        output(kept.customer.map { "customer \($0)" } ?? "no customer of this name")
        for name in kept.formerIDs { output("  was the guest \(name): that name goes too") }
        for (what, rows) in kept.counts { output("  \(rows) \(what)") }
    }
}
