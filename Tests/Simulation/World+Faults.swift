import Messages

@testable import Granting

extension World {
    /// Breaks something, most of it around `lane`.
    func inject(_ fault: Fault, _ lane: SimulatedLane) {
        var dice = Dice(seed: fault.seed)
        trace { "FAULT \(fault.kind) at \(lane.name)" }
        switch fault.kind {
        case .crash: lane.close(after: Int64(dice.roll(4_000)))
        case .crashAndPurge:
            let queue = lane.queue
            lane.close(after: Int64(dice.roll(4_000)))
            let count = broker.purge(queue) { self.auditor.isCommitted($0.letter.header.id) }
            trace { "\(count) messages that were handled are purged" }
        case .databaseLost: loseDatabase(lane, &dice)
        case .consumerLost:
            if !lane.isConsumerLost { loseConsumer(lane) }
        case .publisherLost:
            guard lane.swept ?? lane.told?.publishing ?? lane.current?.publishing != nil else { return }
            lane.close(after: 100)
        case .stall: lane.stalledUntil = now + Int64(dice.roll(30_000))
        case .databaseAway:
            databaseAwayUntil = now + Int64(dice.roll(20_000))
            for other in lanes where other.current?.attempt != nil { loseDatabase(other, &dice) }
        case .brokerAway:
            brokerAwayUntil = now + Int64(dice.roll(20_000))
            for other in lanes { other.close(after: 100) }
        case .rejections: rejections += 1 + dice.roll(4)
        case .bindingMissing: bindingMissingUntil = now + Int64(dice.roll(20_000))
        case .answersLost: answersLost += 1 + dice.roll(4)
        case .duplicate:
            for queue in Broker.Queue.allCases { broker.duplicate(queue) }
        case .impatience:
            if !requests.isEmpty { send(dice.roll(requests.count)) }
        }
    }

    private func loseConsumer(_ lane: SimulatedLane) {
        broker.takeBack(lane.hands, to: lane.queue)
        lane.isConsumerLost = true
    }

    /// The lane waits and tries again; what the server makes of its transaction is another matter.
    private func loseDatabase(_ lane: SimulatedLane, _ dice: inout Dice) {
        guard let batch = lane.current, let attempt = batch.attempt else { return }
        abandon(attempt, batch.taken)
        guard attempt.phase == .committing else {
            _ = lane.databaseLost()
            return
        }
        lane.guess(attempt, batch)
    }

    /// A transaction whose client is gone: rolled back at once or later; a COMMIT that was sent may still come through.
    func abandon(_ attempt: Attempt, _ copies: [Copy]) {
        let wasSent = attempt.phase == .committing
        let commits = wasSent && dice.chance(50)
        trace { wasSent ? "a COMMIT is under way and its client is gone" : "a transaction is abandoned" }
        let orphan = Orphan(
            until: dice.chance(60) ? now : now + Int64(dice.roll(3_000)), attempt: attempt, copies: copies,
            commits: commits)
        orphans.append(orphan)
    }
}
