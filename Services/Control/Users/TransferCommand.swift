import Messages
import Pipeline

/// `purser users transfer`: a guest has registered.
struct TransferCommand {
    let output: (String) -> Void
    let environment: [String: String]

    /// What was asked for; nil if the words are no usage.
    static func request(_ arguments: [String]) -> UserTransferRequested? {
        guard arguments.first == "transfer",
            let words = try? CommandWords(
                Array(arguments.dropFirst()),
                values: ["--app", "--from", "--to", "--actor", "--reason", "--request-id"]),
            words.plain.isEmpty,
            let app = words["--app"], let from = words["--from"], let to = words["--to"], from != to,
            let actor = words["--actor"], let reason = words["--reason"]
        else { return nil }
        let requestID = words["--request-id"] ?? UUIDText.random()
        guard let number = UUIDText.parse(requestID) else { return nil }
        return UserTransferRequested(
            app: AppID(app), fromUserID: UserID(from), toUserID: UserID(to), requestID: UUIDText.format(number),
            actor: actor, reason: reason)
    }

    /// Exit code: 0 done, 1 refused or unreachable, 2 wrong settings.
    nonisolated(nonsending) func run(_ request: UserTransferRequested) async -> Int32 {
        await Desk.with(environment, output) { desk in
            do {
                try await desk.becomeReady()
                let answer = try await desk.ask(request, expecting: UserTransferAnswered.self, app: request.app)
                output("\(answer.outcome.rawValue): \(Self.sentence(answer.outcome)) (request \(request.requestID))")
                return answer.outcome == .transferred ? 0 : 1
            } catch {
                output("no answer: \(error); ask again with --request-id \(request.requestID)")
                return 1
            }
        }
    }

    /// What an outcome means.
    static func sentence(_ outcome: TransferOutcome) -> String {
        switch outcome {
        case .transferred: "the guest's wallet is the registered user's"
        case .unknownGuest: "the app has no such guest; nothing was changed"
        case .userHasBooks: "the registered user has purchases, orders or a wallet already; nothing was changed"
        case .requestConflict: "this number was used for another transfer; nothing was changed"
        }
    }
}
