import Messages
import Observability
import Postgres
import Runtime
import Service

/// Counts the purchases that are held, so that somebody looks at those that wait for more than a day (document C, C-109).
struct HeldWatch: Sendable {
    /// How long a purchase has waited.
    enum Age: String, CaseIterable, Sendable {
        /// Less than a day.
        case young
        /// A day or more: the document's limit for a look by hand.
        case day
    }

    private let gauges: [HeldReason: [Age: Gauge]]

    /// Registers the gauges; every reason has one from the start, so that its absence means something.
    init(_ metrics: Metrics) {
        gauges = Dictionary(
            uniqueKeysWithValues: HeldReason.allCases.map { reason in
                let ages = Age.allCases.map { age in
                    let gauge = metrics.gauge(
                        "purser_granting_held_purchases", help: "Genuine purchases that wait, by why and how long.",
                        labels: ["reason": reason.rawValue, "age": age.rawValue])
                    return (age, gauge)
                }
                return (reason, Dictionary(uniqueKeysWithValues: ages))
            })
    }

    /// Counts once. One pass over the index of held purchases: what is delivered costs nothing.
    func look(on connection: inout Connection) throws {
        var counts: [HeldReason: (all: Int64, old: Int64)] = [:]
        for row in try connection.query(Self.count) {
            guard let reason = HeldReason(rawValue: try row.text("held_reason")) else { continue }
            counts[reason] = (try row.int8("waiting"), try row.int8("old"))
        }
        for (reason, ages) in gauges {
            let count = counts[reason] ?? (0, 0)
            ages[.young]?.set(Int(count.all - count.old))
            ages[.day]?.set(Int(count.old))
        }
    }

    private static let count = """
        SELECT held_reason, count(*) AS waiting,
            count(*) FILTER (WHERE created_at < clock_timestamp() - interval '24 hours') AS old
        FROM granting.transactions WHERE held_reason IS NOT NULL GROUP BY held_reason
        """
}

/// The thread that counts. It is never what makes the service unready: nobody waits for it.
struct HeldWatchPart: ServicePart {
    private let thread: NamedThread
    /// A minute is often enough for what a person looks at after a day.
    private static let interval: Duration = .seconds(60)

    var name: String { "held" }
    var isReady: Bool { true }

    /// Counts at once and then every minute, until the service stops; a lost database is waited for.
    static func start(_ context: ServiceContext, _ database: Secret) -> HeldWatchPart {
        let watch = HeldWatch(context.metrics)
        let thread = NamedThread.start(name: "held") {
            var backoff = Backoff()
            while !context.stop.isStopped {
                do {
                    var connection = try Connection.open(database, applicationName: "purser-granting held")
                    repeat {
                        try watch.look(on: &connection)
                        backoff.reset()
                    } while !context.stop.wait(for: interval)
                } catch {
                    context.logger.warning(
                        "held purchases cannot be counted",
                        ["error": .string((error as? PostgresError)?.code ?? "\(type(of: error))")])
                    _ = context.stop.wait(for: backoff.next())
                }
            }
        }
        return HeldWatchPart(thread: thread)
    }

    func shutDown(within limit: Duration) -> Bool { thread.join(for: limit) }
}
