import AMQP
import Messages
import Observability
import Postgres
import Service

/// `purser-granting restore [--since SECONDS]`: after PostgreSQL was restored to an older backup, what was told of since
/// then comes back from the stream, before the service serves again. docs/guides/operating.md tells all of it.
enum RestoreCommand {
    static let command = ServiceCommand(name: "restore", usage: "restore [--since SECONDS]", run: run)

    /// A stream that is silent for so long has been read to its end: the broker sends as fast as it is taken.
    private static let silence = Duration.seconds(2)
    private static let window = 1_000

    /// Exit status: 0 whatever was missing is back, 1 something is left or went wrong, 2 wrong usage.
    private static func run(_ arguments: [String], _ common: CommonSettings, _ output: (String) -> Void) -> Int32 {
        guard let offset = offset(arguments) else {
            output("usage: purser-granting restore [--since SECONDS]")
            output("Applies the facts of the stream that the database lacks; all of them, or those of so many seconds.")
            return 2
        }
        guard let broker = common.broker, let database = common.database else { return 2 }
        do {
            let report = try restore(broker, database, from: offset)
            for line in report.lines { output(line) }
            return report.exitCode
        } catch let refused as Restoration.Refused {
            output("refused: \(refused.reason)")
        } catch {
            output("broken off, to be run again: \(describe(error))")
        }
        return 1
    }

    private static func describe(_ error: any Error) -> String {
        switch error {
        case let error as PostgresError: "\(error)"
        case let error as AMQPError: "\(error)"
        default: "\(type(of: error))"
        }
    }

    /// Where the stream is read from. The broker begins with the file that holds the place: some facts more.
    private static func offset(_ arguments: [String]) -> AMQPHeaderValue? {
        if arguments.isEmpty { return "first" }
        // 60 days: no stream is longer.
        guard arguments.count == 2, arguments[0] == "--since", let seconds = Int(arguments[1]),
            (1...Topology.factsRetentionDays * 86_400).contains(seconds)
        else { return nil }
        return .string("\(seconds)s")
    }

    private static func restore(
        _ broker: AMQPEndpoint, _ database: Secret, from offset: AMQPHeaderValue
    ) throws -> RestoreReport {
        var restoration = try Restoration.begin(database)
        var consumer = try Consumer.open(
            broker, connectionName: "purser-granting restore", queue: Topology.factsStream, prefetch: window,
            arguments: ["x-stream-offset": offset])
        defer { consumer.close() }
        while true {
            let deliveries = try consumer.receive(max: Restoration.usualLimit, wait: silence)
            guard let last = deliveries.last else { break }
            let facts = deliveries.compactMap { StreamedFact($0) }
            try restoration.take(facts, unreadable: deliveries.count - facts.count)
            try consumer.acknowledge(upTo: last.tag)
        }
        try restoration.finish()
        return restoration.report
    }
}
