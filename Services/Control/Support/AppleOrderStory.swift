import Messages
import Pipeline

/// `purser find --apple-order`: Apple is asked, by reconciliation, which purchases an order id of its e-mails stands for.
struct AppleOrderStory {
    /// Longer than reconciliation gives Apple for all apps.
    private static let patience = Duration.seconds(15)

    let output: (String) -> Void

    /// The purchases; where there are none, why has been told.
    nonisolated(nonsending) func purchases(
        of orderID: String, at desk: Desk
    ) async -> [AppleOrderAnswered.Purchase] {
        do {
            try await desk.becomeReady()
            let answer = try await desk.ask(
                AppleOrderRequested(orderID: orderID), expecting: AppleOrderAnswered.self, app: nil,
                patience: Self.patience)
            for line in Self.lines(about: answer) { output(line) }
            return answer.purchases
        } catch RequestError.timedOut {
            output("reconciliation has not answered: does it run, and can it reach Apple?")
        } catch {
            output("Apple could not be asked: \(error)")
        }
        return []
    }

    /// What an operator is told before the purchases' own stories.
    static func lines(about answer: AppleOrderAnswered) -> [String] {
        var lines = answer.purchases.map { "Apple: \($0.environment.rawValue)/\($0.transactionID) of app \($0.app)" }
        if answer.unverified > 0 {
            lines.append(
                "\(answer.unverified) transactions that Apple showed could not be verified: do the apps' files name their bundle ids?"
            )
        }
        guard answer.purchases.isEmpty else { return lines }
        lines += answer.problems.map { "app \($0.app), \($0.bundleID): \($0.description) (\($0.code))" }
        if answer.asked == 0, answer.problems.isEmpty {
            lines.append(
                "no app has a key for Apple's Server API in Production: appStoreConnect in apps/<id>.yaml, and APPS of reconciliation"
            )
        } else if answer.asked > 0, answer.unverified == 0 {
            lines.append(
                "Apple knows no such order of \(answer.asked) bundle ids that were asked for (Production only)")
        }
        return lines
    }
}
