import Messages
import Pipeline
import Runtime
import Synchronization

/// Who knows what Apple may be told.
protocol ConsumptionAssessor: Sendable {
    /// Asks and waits; throws `RequestError`.
    func assess(_ request: ConsumptionRequestRow) throws -> ConsumptionAssessed
}

/// Granting, over the broker. Blocks its thread: for the worker's own, never for the cooperative pool.
struct GrantingAssessor: ConsumptionAssessor {
    let requester: Requester

    /// An assessment takes milliseconds; Granting drops questions that are older.
    private static let patience = Duration.seconds(5)

    func assess(_ request: ConsumptionRequestRow) throws -> ConsumptionAssessed {
        let question = ConsumptionAssessmentRequested(
            app: request.app, environment: request.environment, transactionID: request.transactionID)
        // The notification's id is in every line about it; the question has one of its own, as askers' ids are unique.
        let context = Requester.Context(
            app: request.app, correlationID: UUIDText.random(), patience: Self.patience)
        let (answer, done) = (Answer(), StopSignal())
        Task { [requester] in
            do {
                let assessed = try await requester.ask(question, expecting: ConsumptionAssessed.self, context: context)
                answer.result.withLock { $0 = .success(assessed) }
            } catch {
                answer.result.withLock { $0 = .failure(error) }
            }
            done.stop()
        }
        done.wait()
        guard let result = answer.result.withLock({ $0 }) else { throw RequestError.timedOut }
        return try result.get()
    }

    /// Filled by the task, read by the thread that waited for it.
    private final class Answer: Sendable {
        let result = Mutex<Result<ConsumptionAssessed, any Error>?>(nil)
    }
}
