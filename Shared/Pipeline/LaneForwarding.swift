import AMQP
import Messages
import Observability

/// What a lane sends on instead of handling it: retries and what is given up.
extension LaneSession {
    /// The messages for `purser.retry` and `purser.parked`. A question (transient queue) is neither retried nor parked:
    /// its asker has been told or has stopped waiting.
    func forwarding(
        _ deliveries: [Delivery], _ triaged: [Result<Incoming, Envelope.Malformed>], _ committed: LaneBatch
    ) -> [OutgoingMessage] {
        var messages: [OutgoingMessage] = []
        var entries = committed.entries.makeIterator()
        for (delivery, triage) in zip(deliveries, triaged) {
            switch triage {
            case .failure(let malformed):
                append(parking(delivery, reason: malformed.rawValue, attempt: 0), to: &messages)
            case .success(let incoming):
                guard let entry = entries.next() else { continue }
                append(forwarding(delivery, incoming, entry.outcome), to: &messages)
            }
        }
        return messages
    }

    private func append(_ message: OutgoingMessage?, to messages: inout [OutgoingMessage]) {
        if let message { messages.append(message) }
    }

    private func forwarding(_ delivery: Delivery, _ incoming: Incoming, _ outcome: Outcome) -> OutgoingMessage? {
        let attempt = incoming.header.attempt
        switch outcome {
        case .done:
            instruments.done.increment()
            logger.debug("message handled", fields(incoming))
            return nil
        case .park(let reason):
            return parking(delivery, reason: reason, attempt: attempt)
        case .retry(let wish, let reason, let isOutage, _, _):
            guard let delay = RetryPolicy.next(wish, attempt: attempt, isOutage: isOutage) else {
                return parking(delivery, reason: "retry.exhausted: \(reason)", attempt: attempt)
            }
            instruments.retried.increment()
            logger.info(
                "message will be retried",
                fields(incoming).merging(["reason": .string(reason), "delay": .string(delay.rawValue)]) { $1 })
            guard case .work = configuration.queue.durability else { return nil }
            return Envelope.forward(
                delivery, exchange: Topology.retry, routingKey: delay.routingKey(for: configuration.queue.name),
                reason: reason, attempt: attempt + 1)
        }
    }

    private func parking(_ delivery: Delivery, reason: String, attempt: Int) -> OutgoingMessage? {
        instruments.parked.increment()
        logger.error(
            "message parked; look at it, then replay or discard it",
            [
                "message.id": .string(delivery.properties.messageID), "reason": .string(reason),
                "correlation.id": .string(delivery.properties.correlationID),
                "message.type": .string(delivery.properties.type),
            ])
        guard case .work = configuration.queue.durability else { return nil }
        return Envelope.forward(
            delivery, exchange: Topology.parked, routingKey: configuration.queue.name, reason: reason,
            attempt: attempt)
    }

    private func fields(_ incoming: Incoming) -> [String: LogValue] {
        [
            "message.id": .string(incoming.header.id.rawValue), "message.type": .string(incoming.header.type.rawValue),
            "correlation.id": .string(incoming.header.correlationID), "attempt": .int(incoming.header.attempt),
        ]
    }
}
