import Testing

@testable import AMQP

@Suite struct PublishRoundTests {
    private func messages(_ count: Int, awaitsConfirm: Bool = true) -> [OutgoingMessage] {
        (0..<count).map { .init(exchange: "e", routingKey: "\($0)", awaitsConfirm: awaitsConfirm, body: []) }
    }

    @Test func `messages are written in order and the round is done when all are settled`() {
        var round = PublishRound(messages(3), patience: nil)
        #expect([round.takeNext(), round.takeNext(), round.takeNext(), round.takeNext()] == [0, 1, 2, nil])
        for token in 0..<3 {
            #expect(!round.isDone(isBlocked: false))
            round.settle(.init(token: token, verdict: token == 1 ? .returned(code: 312, text: "x") : .confirmed))
        }
        #expect(round.isDone(isBlocked: false))
        #expect(round.outcomes == [.confirmed, .returned(code: 312, text: "x"), .confirmed])
    }

    @Test func `rejected messages are written again after a wait, in their order`() throws {
        var round = PublishRound(messages(3), patience: nil)
        while round.takeNext() != nil {}
        round.settle(.init(token: 0, verdict: .rejected))
        round.settle(.init(token: 2, verdict: .rejected))
        round.settle(.init(token: 1, verdict: .confirmed))
        let now = ContinuousClock.now
        #expect(!round.hasMore)
        // The wait is a part of a second, from before `now`.
        #expect(round.wakeUp(before: now.advanced(by: .seconds(60))) < now.advanced(by: .seconds(2)))
        round.requeueRejected(at: now.advanced(by: .seconds(3)))
        #expect([round.takeNext(), round.takeNext(), round.takeNext()] == [0, 2, nil])
        #expect(!round.isDone(isBlocked: false))
    }

    @Test func `what awaits no confirm is written but holds nobody back, least of all a blocked broker`() {
        var round = PublishRound(messages(2, awaitsConfirm: false), patience: nil)
        #expect(!round.isDone(isBlocked: false))
        #expect(round.isDone(isBlocked: true))
        while round.takeNext() != nil {}
        #expect(round.isDone(isBlocked: false))
        #expect(round.outcomes == [.unconfirmed, .unconfirmed])
    }

    @Test func `patience ends`() {
        let before = ContinuousClock.now
        let round = PublishRound(messages(1), patience: .milliseconds(10))
        let now = ContinuousClock.now
        #expect(!round.isOutOfPatience(at: before))
        #expect(round.isOutOfPatience(at: now.advanced(by: .seconds(1))))
        #expect(round.wakeUp(before: now.advanced(by: .seconds(60))) <= now.advanced(by: .milliseconds(10)))
        #expect(!PublishRound(messages(1), patience: nil).isOutOfPatience(at: now.advanced(by: .seconds(1_000_000))))
    }
}
