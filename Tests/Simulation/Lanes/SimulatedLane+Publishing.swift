import AMQP
import Messages

@testable import Granting
@testable import Pipeline

/// Messages on their way to the broker, one by one; they count only when all are confirmed.
struct Publishing {
    /// A message as Granting's lanes send it, or the feeder's.
    enum Outgoing {
        case message(OutgoingMessage)
        case letter(Letter, Broker.Queue)
    }

    var messages: [Outgoing]
    /// The next to be written.
    var index = 0
    /// The broker has them.
    var stored: [Outgoing] = []
    /// Came back: no queue takes them.
    var returned: [Outgoing] = []

    init(_ messages: [Outgoing]) { self.messages = messages }
}

extension SimulatedLane {
    /// One message further, or the confirms of all. True when the broker has everything.
    func publish(_ publishing: inout Publishing?) -> Bool {
        guard let round = publishing else { return true }
        guard round.index < round.messages.count else { return confirm(&publishing) }
        write(&publishing)
        return false
    }

    /// Writes the next message. False when all are written.
    @discardableResult
    func write(_ publishing: inout Publishing?) -> Bool {
        guard var round = publishing, round.index < round.messages.count else { return false }
        publishing = nil
        let message = round.messages[round.index]
        switch world.route(message) {
        case .stored:
            round.stored.append(message)
            round.index += 1
        case .returned:
            round.returned.append(message)
            round.index += 1
        // Written again later, after others: order is not kept.
        case .rejected: round.messages.append(round.messages.remove(at: round.index))
        }
        publishing = round
        return true
    }

    /// The confirms of all. What came back is to be written again.
    private func confirm(_ publishing: inout Publishing?) -> Bool {
        guard let round = publishing else { return true }
        let ignoresReturns = world.plan.mutation == .returnsIgnored
        world.confirmed(ignoresReturns ? round.messages : round.stored)
        if round.returned.isEmpty || ignoresReturns { return true }
        publishing = Publishing(round.returned)
        stalledUntil = world.now + 200
        return false
    }

    func outgoing(_ batch: BatchInHand, _ committed: LaneBatch) -> [Publishing.Outgoing] {
        guard queue == .submitted else {
            return committed.messages(service: "granting", now: world.now).map { .message($0) }
        }
        return zip(batch.taken, committed.entries).compactMap { copy, entry in
            guard case .done = entry.outcome else { return nil }
            return world.verified(copy.letter).map { .letter($0, .purchases) }
        }
    }

    /// The feeder's decision: genuine, or, when its clock or Apple is out, to be asked again.
    func verify(_ batch: BatchInHand) -> LaneBatch {
        let outcomes = batch.taken.map { copy in
            copy.letter.header.attempt == 0 && world.plan.feederRetries && world.dice.chance(20)
                ? Outcome.retry(after: RetryPolicy.delay(attempt: 0), reason: "outage", isOutage: true, reply: nil)
                : Outcome.done(facts: [], reply: nil)
        }
        let committed = LaneBatch(batch.incoming, outcomes, FactStore.Saved())
        batch.committed = committed
        return committed
    }
}
