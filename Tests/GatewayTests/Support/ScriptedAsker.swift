import Messages
import Pipeline
import Synchronization

@testable import Gateway

/// Answers in place of the services, and remembers what was asked.
final class ScriptedAsker: Asker {
    typealias Script = @Sendable (any Message, Requester.Context) throws -> any Message

    private let script: Script
    private let questions = Mutex<[(question: any Message, context: Requester.Context)]>([])

    init(_ script: @escaping Script) { self.script = script }

    /// Everything asked so far.
    var asked: [any Message] { questions.withLock { $0.map(\.question) } }
    /// The contexts of everything asked so far.
    var contexts: [Requester.Context] { questions.withLock { $0.map(\.context) } }

    func ask<Question: Message, Answer: Message>(
        _ question: Question, expecting answer: Answer.Type, context: Requester.Context
    ) async throws -> Answer {
        questions.withLock { $0.append((question, context)) }
        guard let answer = try script(question, context) as? Answer else { throw RequestError.unreadableAnswer }
        return answer
    }

    func tell(_ message: some Message, context: Requester.Context) async throws {
        questions.withLock { $0.append((message, context)) }
        _ = try script(message, context)
    }
}
