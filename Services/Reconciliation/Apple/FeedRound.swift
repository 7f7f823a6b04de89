import AMQP
import Messages
import Observability
import Pipeline
import Postgres

/// Hands in what was missed, a few at a time, until the books have it. Lives on the thread that asks Apple.
struct FeedRound {
    let sources: any AppleSources
    let instruments: AppleMetrics
    let logger: Logger

    /// Under way at once: a fraction of a second's live traffic, which goes first.
    static let window = 20
    /// What was handed in longer ago is not under way (ms): services that run answer in a second.
    static let patience: Int64 = 60_000
    /// Attempts after which a person should look.
    private static let attemptsForPerson: Int64 = 3
    /// How often an accepted one is looked at, whether its cause is gone (ms).
    private static let acceptedPause: Int64 = 3_600_000

    /// One look. Whoever cannot be asked now is asked next time. Throws what the database throws.
    func run(now: Int64, on connection: inout Connection) throws {
        let entries = try connection.transaction {
            try AppleFeedTable.window(now: now, since: now - Self.patience, limit: Int64(Self.window), in: &$0)
        }
        if !entries.isEmpty {
            do {
                try handIn(entries, now, &connection)
            } catch let error as PostgresError {
                throw error
            } catch {
                logger.warning(
                    "what Apple has told cannot be handed in now",
                    ["error": .string((error as? RequestError)?.code ?? "\(type(of: error))")])
            }
        }
        instruments.waiting.set(try AppleFeedTable.count(on: &connection))
    }

    private func handIn(_ entries: [AppleFeedTable.Entry], _ now: Int64, _ connection: inout Connection) throws {
        let books = try AppleBooks.read(
            notifications: entries.compactMap(\.feed.notification), purchases: entries.compactMap(\.feed.purchase),
            from: sources)
        var settled: [AppleFeed] = []
        var watched: [AppleFeed] = []
        var due: [(AppleFeed, AppleFeed.Remedy)] = []
        var underWay = 0
        for entry in entries {
            var feed = entry.feed
            let remedy = books.remedy(for: feed)
            switch remedy {
            case .none: settled.append(feed)
            case _ where entry.isAccepted: watched.append(feed)
            case _ where entry.isUnderWay: underWay += 1
            default:
                feed.nextAt = now + Self.pause(after: feed.attempts)
                due.append((feed, remedy))
            }
        }
        let sent = Array(due.prefix(max(0, Self.window - underWay)))
        let (over, kept) = (settled, watched)
        try connection.transaction { transaction in
            for kind in Set(over.map(\.kind)) {
                _ = try FindingStore.resolve(
                    [kind], subjects: over.filter { $0.kind == kind }.map(\.subject), reason: "the books have it",
                    now: now, in: &transaction)
            }
            try AppleFeedTable.remove(over, in: &transaction)
            try AppleFeedTable.postpone(kept, to: now + Self.acceptedPause, in: &transaction)
            try AppleFeedTable.attempt(
                sent.map(\.0), patience: Self.attemptsForPerson, now: now, in: &transaction)
        }
        for (feed, remedy) in sent { try sources.handIn(feed, as: remedy) }
    }

    /// A minute, doubled with each attempt, an hour at most (ms).
    private static func pause(after attempts: Int64) -> Int64 { min(patience << min(max(attempts, 0), 6), 3_600_000) }
}
