import Messages
import Pipeline

/// `purser regrant`: has a verified purchase decided anew, for whoever handed it in or for a user an operator names. By
/// the same rules as everybody's: what was granted stays granted once, what is refunded or another's stays so.
struct RegrantCommand {
    static let usage = """
        usage: purser regrant TRANSACTION [--environment Production|Sandbox] [--user USER] [--id UUID]
                              --actor NAME --reason TEXT

          --user  for this user, if nobody owns the purchase yet; else for whoever handed it in
          --id    of the request, for the record; without it a new one is drawn and printed
        """

    let output: (String) -> Void
    let environment: [String: String]

    /// Reads the words.
    static func request(_ arguments: [String]) throws(WordProblem) -> RegrantRequested {
        let words = try CommandWords(arguments, values: ["--environment", "--user", "--id", "--actor", "--reason"])
        guard words.plain.count == 1, let id = words.plain.first, (1...20).contains(id.utf8.count),
            id.allSatisfy({ $0.isASCII && $0.isNumber })
        else { throw WordProblem(text: "which purchase? It takes one transaction id") }
        guard let environment = StoreEnvironment(rawValue: words["--environment"] ?? "Production") else {
            throw WordProblem(text: "--environment is Production or Sandbox")
        }
        let given = words["--id"] ?? UUIDText.random()
        guard let bytes = UUIDText.parse(given) else { throw WordProblem(text: "--id is a UUID") }
        return RegrantRequested(
            requestID: UUIDText.format(bytes), environment: environment, transactionID: TransactionID(id),
            userID: words["--user"].map { UserID($0) }, actor: try words.required("--actor"),
            reason: try words.required("--reason"))
    }

    /// Exit code: 0 granted, now or before, 1 not granted or unreachable, 2 wrong usage or settings.
    nonisolated(nonsending) func run(arguments: [String]) async -> Int32 {
        let request: RegrantRequested
        do throws(WordProblem) {
            request = try Self.request(arguments)
        } catch {
            output("purser regrant: \(error.text)")
            output(Self.usage)
            return 2
        }
        return await Desk.with(environment, output) { desk in
            do {
                try await desk.becomeReady()
                output("request \(request.requestID)")
                return tell(try await desk.ask(request, expecting: PurchaseAnswered.self, app: nil))
            } catch {
                output("not decided: \(error)")
                return 1
            }
        }
    }

    private func tell(_ answer: PurchaseAnswered) -> Int32 {
        let amounts = answer.amounts.map { "\($0.amount) \($0.asset)" }.joined(separator: ", ")
        switch answer.status {
        case .granted:
            output("granted: \(amounts)")
            return 0
        case .alreadyGranted:
            output("was granted before: \(amounts)")
            return 0
        case .held, .refused, .pending:
            output("not granted: \(answer.code?.rawValue ?? answer.status.rawValue) \(answer.reason ?? "")")
            return 1
        }
    }
}
