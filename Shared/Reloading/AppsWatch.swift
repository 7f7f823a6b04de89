import Apps
public import Observability
public import Runtime
public import Service

/// Reads the apps' files again when one of them, or a file they name, has changed. What has a mistake changes nothing:
/// everything stays as it was, and an alert and a log line say so. For one thread.
public struct AppsWatch<Value: Sendable>: Sendable {
    /// What a look came to.
    public enum Outcome: Equatable, Sendable {
        /// Nothing has changed since the last look.
        case unchanged
        /// The files are in force.
        case replaced(apps: Int)
        /// They have mistakes: what was in force before stays.
        case rejected(problems: Int)
    }

    private let folder: String
    private let live: Live<Value>
    private let read: @Sendable () -> AppsReading<Value>
    private let logger: Logger
    private let replaced: Counter
    private let rejected: Counter
    private let stale: Gauge
    private var files: [String]
    private var stamp: [String]

    /// Looks after `live`, which `first` was made of; `read` reads `folder` anew.
    public init(
        folder: String, live: Live<Value>, first: AppsReading<Value>, logger: Logger, metrics: Metrics,
        read: @escaping @Sendable () -> AppsReading<Value>
    ) {
        self.folder = folder
        self.live = live
        self.read = read
        self.logger = logger
        files = first.files
        stamp = first.stamp
        let counter = { (outcome: String) in
            metrics.counter(
                "purser_apps_reloads_total", help: "Changes of the apps' files: replaced, or rejected.",
                labels: ["outcome": outcome])
        }
        replaced = counter("replaced")
        rejected = counter("rejected")
        stale = metrics.gauge(
            "purser_apps_stale", help: "1 while the apps' files have mistakes and older ones are in force.")
    }

    /// Looks once. Blocks for file access.
    public mutating func look() -> Outcome {
        // Taken before the files are read: what changes while they are is seen by the next look.
        let seen = AppsDirectory.stamp(folder, others: files)
        guard seen != stamp else { return .unchanged }
        stamp = seen
        let reading = read()
        // A folder with mistakes names no files: those of before are still looked at.
        if !reading.files.isEmpty {
            files = reading.files
            // Of files that were named only now, the stamp from before they were read.
            stamp = reading.stamp
        }
        guard reading.problems.isEmpty, let value = reading.value else {
            rejected.increment()
            stale.set(1)
            for problem in reading.problems {
                logger.error(
                    "the apps' files have a mistake; the former ones stay in force", ["problem": .string(problem)])
            }
            return .rejected(problems: reading.problems.count)
        }
        live.replace(by: value)
        replaced.increment()
        stale.set(0)
        logger.info("the apps' files were read again", ["apps": .int(reading.count)])
        return .replaced(apps: reading.count)
    }
}

/// The thread that looks.
public struct AppsWatchPart: ServicePart {
    private let thread: NamedThread

    /// For logs and readiness.
    public var name: String { "apps" }
    /// Files that cannot be read keep nobody from working.
    public var isReady: Bool { true }

    /// Looks every `interval` until `stop`.
    public static func start<Value>(
        _ watch: AppsWatch<Value>, every interval: Duration, stop: StopSignal
    ) -> AppsWatchPart {
        AppsWatchPart(
            thread: NamedThread.start(name: "apps") {
                var watch = watch
                while !stop.wait(for: interval) { _ = watch.look() }
            })
    }

    /// Ends with the stop signal.
    public func shutDown(within limit: Duration) -> Bool { thread.join(for: limit) }
}
