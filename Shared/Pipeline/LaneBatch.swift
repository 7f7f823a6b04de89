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

extension LaneBatch.Entry {
    fileprivate func reply(service: String, now: Int64) -> OutgoingMessage? {
        let reply: Reply? =
            switch outcome {
            case .done(_, let reply), .retry(_, _, _, let reply): reply
            case .park(let reason): try? Reply(RequestParked(reason: reason))
            }
        return reply.flatMap { Envelope.reply($0, to: incoming.header, service: service, occurredAt: now) }
    }
}
