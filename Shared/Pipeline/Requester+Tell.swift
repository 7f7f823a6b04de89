import AMQP
public import Messages
import Runtime

extension Requester {
    /// Says `message`, to which there is no answer, and waits until the broker has it for good: written to disk in a
    /// queue that takes it, and confirmed. Whoever is told so may forget it.
    ///
    /// It shares rounds with questions, but has a limit of its own. An error means that it is not known to be safe: it
    /// may still arrive, so the caller's sender repeats it and its reader drops what was seen.
    ///
    /// - Throws: ``RequestError``, at the latest after the context's patience.
    public func tell(_ message: some Message, context: Context) async throws {
        if isBlocked { throw RequestError.blocked }
        guard told.count < Self.tellLimit else { throw RequestError.overloaded }
        let header = MessageHeader(
            id: MessageID(UUIDText.random()), type: message.messageType, version: Self.version(of: message),
            occurredAt: WallClock.milliseconds, correlationID: context.correlationID, app: context.app)
        let outgoing = Envelope.request(header, body: try MessageCoding.encode(message), service: user)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            told.add(context.correlationID, deadline: .now + context.patience, continuation)
            // An alarm may have been told since the look above, before this one could be told.
            if isBlocked {
                told.fail(context.correlationID, .blocked)
            } else {
                Task { await publishTold(outgoing, context.correlationID) }
            }
        }
    }

    private static func version<M: Message>(of _: M) -> Int { M.version }

    private func publishTold(_ message: OutgoingMessage, _ correlationID: String) async {
        do {
            switch try await worker.submit(message) {
            case .confirmed: told.end(correlationID, ())
            case .returned:
                told.fail(
                    correlationID, .brokerUnavailable(reason: "no queue takes it; is the topology imported?"))
            case .unconfirmed: told.fail(correlationID, .brokerUnavailable(reason: "it was not confirmed"))
            }
        } catch WorkerError.overloaded {
            told.fail(correlationID, .overloaded)
        } catch {
            told.fail(correlationID, .brokerUnavailable(reason: describe(error)))
        }
    }
}
