import AMQP
import Messages

/// A batch after its commit: what was decided, and what is to be told.
struct LaneBatch {
    /// Each message with its outcome and the facts to publish for it.
    var entries: [Entry] = []
    /// Rows of `unannounced` written with it.
    var unannounced: [Int64] = []

    struct Entry {
        let incoming: Incoming
        let outcome: Outcome
        let facts: [Fact]
    }

    /// What is to be stored of a batch's outcomes, and which of its messages may have left facts earlier: those that
    /// were delivered before, and those that found everything done.
    static func facts(of outcomes: [Outcome], on batch: [Incoming]) -> (new: [Fact], recalling: [MessageID]) {
        var facts: [Fact] = []
        var recalling: [MessageID] = []
        for (incoming, outcome) in zip(batch, outcomes) {
            switch outcome {
            case .done(let new, _):
                facts += new
                if new.isEmpty || incoming.isRedelivered { recalling.append(incoming.header.id) }
            case .retry(_, _, _, _, let new):
                facts += new
                // It comes again anyway: what an earlier round told is not told with every one.
                if incoming.isRedelivered { recalling.append(incoming.header.id) }
            case .park: break
            }
        }
        return (facts, recalling)
    }

    /// Replies first, they are what people wait for; then the facts.
    func messages(service: String, now: Int64) -> [OutgoingMessage] {
        entries.compactMap { $0.reply(service: service, now: now) }
            + entries.flatMap { entry in
                entry.facts.map { Envelope.fact($0, service: service, replyTo: entry.incoming.header.replyTo) }
            }
    }

    /// Joins a message that was run in a transaction of its own.
    mutating func append(_ other: LaneBatch) {
        entries += other.entries
        unannounced += other.unannounced
    }

    /// A message given up without any transaction.
    static func parked(_ incoming: Incoming, reason: String) -> LaneBatch {
        LaneBatch(entries: [Entry(incoming: incoming, outcome: .park(reason: reason), facts: [])])
    }
}

extension LaneBatch {
    /// A batch whose facts are stored. Two copies of one message in it share their facts; they are published once.
    init(_ batch: [Incoming], _ outcomes: [Outcome], _ saved: FactStore.Saved) {
        var seen: Set<MessageID> = []
        entries = zip(batch, outcomes).map { incoming, outcome in
            let isFirst = seen.insert(incoming.header.id).inserted
            let told = isFirst ? saved.facts[incoming.header.id] ?? [] : []
            return Entry(incoming: incoming, outcome: outcome, facts: told)
        }
        unannounced = saved.unannounced.map { [$0] } ?? []
    }
}

extension LaneBatch.Entry {
    fileprivate func reply(service: String, now: Int64) -> OutgoingMessage? {
        let reply: Reply? =
            switch outcome {
            case .done(_, let reply), .retry(_, _, _, let reply, _): reply
            case .park(let reason): try? Reply(RequestParked(reason: reason))
            }
        return reply.flatMap { Envelope.reply($0, to: incoming.header, service: service, occurredAt: now) }
    }
}
