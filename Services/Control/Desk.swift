import Messages
import Observability
import Pipeline
import Runtime

/// Where an operator asks services over the broker, as user `control`.
struct Desk {
    private let requester: Requester

    /// How long an operator waits for a service.
    static let patience = Duration.seconds(10)

    /// Opens the way to the broker, runs `body`, and closes it. Wrong settings are told and give 2.
    nonisolated(nonsending) static func with(
        _ environment: [String: String], _ output: (String) -> Void,
        _ body: nonisolated(nonsending) (Desk) async -> Int32
    ) async -> Int32 {
        switch ControlSettings.read(environment: environment, needing: [.broker]) {
        case .failure(let problems):
            for sentence in problems.sentences { output(sentence) }
            return 2
        case .success(let settings):
            guard let broker = settings.broker else { return 2 }
            let logger = Logger(service: "purser", level: .error)
            let requester = Requester.start(user: "control", broker: broker, logger: logger)
            let code = await body(Desk(requester: requester))
            await withCheckedContinuation { done in
                NamedThread.start(name: "closing") {
                    requester.shutDown(within: .seconds(2))
                    done.resume()
                }
            }
            return code
        }
    }

    /// Waits until the broker can be asked; throws `RequestError` if it cannot.
    nonisolated(nonsending) func becomeReady() async throws {
        let deadline = ContinuousClock.now + Self.patience
        while !requester.isReady {
            guard ContinuousClock.now < deadline else {
                throw RequestError.brokerUnavailable(reason: "no connection within \(Self.patience)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Asks and waits for the answer; throws `RequestError`.
    nonisolated(nonsending) func ask<Question: Message, Answer: Message>(
        _ question: Question, expecting answer: Answer.Type, app: AppID?, patience: Duration = Desk.patience
    ) async throws -> Answer {
        try await requester.ask(
            question, expecting: answer,
            context: .init(app: app, correlationID: UUIDText.random(), patience: patience))
    }
}
