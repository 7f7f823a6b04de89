import Messages
import Pipeline
import Synchronization

@testable import Gateway

/// Answers purchases once it is told to.
final class SlowAsker: Asker {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Whether a question waits.
    var isWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// From now on everything is answered, also what waits.
    func open() {
        let waiting = state.withLock {
            $0.isOpen = true
            return $0.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func ask<Question: Message, Answer: Message>(
        _ question: Question, expecting answer: Answer.Type, context: Requester.Context
    ) async throws -> Answer {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock {
                if !$0.isOpen { $0.waiting.append(continuation) }
                return $0.isOpen
            }
            if isOpen { continuation.resume() }
        }
        guard let answer = GameSamples.answered(.granted) as? Answer else { throw RequestError.unreadableAnswer }
        return answer
    }

    func tell(_ message: some Message, context: Requester.Context) async throws {}
}
