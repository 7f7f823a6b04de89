import Messages

/// `purser risk clear`: an operator has looked at a user whose refunds reached a limit; those of before count no more.
///
/// A message like any other: on record with its actor and reason, in force from Granting's commit.
struct RiskCommand {
    static let usage = "usage: purser risk clear --app APP --user USER --actor NAME --reason TEXT"

    let output: (String) -> Void
    let environment: [String: String]

    /// What was asked for; nil if the words are no usage.
    static func request(_ arguments: [String]) -> RiskClearRequested? {
        guard arguments.first == "clear" else { return nil }
        var values: [String: String] = [:]
        var rest = arguments.dropFirst()
        while let word = rest.popFirst() {
            guard ["--app", "--user", "--actor", "--reason"].contains(word), values[word] == nil,
                let value = rest.popFirst(), !value.isEmpty
            else { return nil }
            values[word] = value
        }
        guard let app = values["--app"], let user = values["--user"], let actor = values["--actor"],
            let reason = values["--reason"]
        else { return nil }
        return RiskClearRequested(app: AppID(app), userID: UserID(user), actor: actor, reason: reason)
    }

    /// Exit code: 0 done, 1 unreachable or no such user, 2 wrong usage or settings.
    nonisolated(nonsending) func run(arguments: [String]) async -> Int32 {
        guard let request = Self.request(arguments) else {
            output(Self.usage)
            return 2
        }
        return await Desk.with(environment, output) { desk in
            do {
                try await desk.becomeReady()
                let answer = try await desk.ask(request, expecting: RiskClearAnswered.self, app: request.app)
                guard answer.isUnknownUser != true else {
                    output("not cleared: \(request.app) has no such user")
                    return 1
                }
                output("refunds of before count for no limit any more")
                return 0
            } catch {
                output("not cleared: \(error)")
                return 1
            }
        }
    }
}
