import Messages
import Pipeline

/// Asks the services behind the broker. The ``Requester`` does it; tests answer themselves.
protocol Asker: Sendable {
    /// Asks and waits for the answer; throws `RequestError`.
    func ask<Question: Message, Answer: Message>(
        _ question: Question, expecting answer: Answer.Type, context: Requester.Context
    ) async throws -> Answer

    /// Says what has no answer, and returns once it cannot be lost any more; throws `RequestError`.
    func tell(_ message: some Message, context: Requester.Context) async throws
}

extension Requester: Asker {}

extension Asker {
    /// Asks on behalf of `call` with the gateway's patience; what has no answer becomes a problem.
    func ask<Question: Message, Answer: Message>(
        _ question: Question, for call: Call, about subject: Endpoint.Subject = .other, expecting answer: Answer.Type
    ) async throws(Problem) -> Answer {
        do {
            return try await ask(
                question, expecting: answer,
                context: Requester.Context(
                    app: call.app.id, correlationID: call.correlationID, patience: GatewayPatience.answer))
        } catch let error as RequestError {
            throw Problem(error, isPurchase: subject == .purchase)
        } catch {
            throw Problem(.internalError)
        }
    }
}

/// How long the gateway waits.
enum GatewayPatience {
    /// For the answer to a request: normally a few milliseconds. After this the client is told to ask again, which is
    /// safe; StoreKit clients give up after tens of seconds.
    static let answer: Duration = .seconds(5)
    /// For the broker to make a notification durable: normally a few milliseconds. Apple waits longer, but each that
    /// waits takes a place of those who could be answered; it comes again.
    static let durable: Duration = .seconds(2)
    /// For requests in flight when the service ends: a little more than ``answer``, so that none is cut off.
    static let stop: Duration = .seconds(6)
}
