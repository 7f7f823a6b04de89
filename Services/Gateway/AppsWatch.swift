import Apps
import Observability
import Runtime
import Service
import Synchronization

/// The apps that are served now; replaced as a whole when their files change. Any thread.
final class LiveApps: Sendable {
    private let current: Mutex<AppDirectory>

    /// Begins with `directory`.
    init(_ directory: AppDirectory) { current = Mutex(directory) }

    /// What is served. A request that has begun keeps what it found.
    var directory: AppDirectory { current.withLock { $0 } }

    /// From now on `directory` is served.
    func replace(by directory: AppDirectory) { current.withLock { $0 = directory } }
}

/// Reads the apps' files again when one of them, or a key file they name, has changed. What has a mistake changes
/// nothing: the apps stay as they were, and an alert and a log line say so. For one thread.
struct AppsWatch {
    /// What a look came to.
    enum Outcome: Equatable {
        /// Nothing has changed since the last look.
        case unchanged
        /// The files are in force.
        case replaced(apps: Int)
        /// They have mistakes: what was in force before stays.
        case rejected(problems: Int)
    }

    private let folder: String
    private let apps: LiveApps
    private let logger: Logger
    private let replaced: Counter
    private let rejected: Counter
    private let stale: Gauge
    private var named: [String]
    private var stamp: [String]

    /// Looks after `apps`, which were read from `folder` when its files had `stamp`.
    init(folder: String, apps: LiveApps, read: AppFiles, logger: Logger, metrics: Metrics) {
        self.folder = folder
        self.apps = apps
        self.logger = logger
        named = read.named
        stamp = read.stamp
        let counter = { (outcome: String) in
            metrics.counter(
                "purser_gateway_apps_reloads_total", help: "Changes of the apps' files: replaced, or rejected.",
                labels: ["outcome": outcome])
        }
        replaced = counter("replaced")
        rejected = counter("rejected")
        stale = metrics.gauge(
            "purser_gateway_apps_stale", help: "1 while the apps' files have mistakes and older ones are in force.")
    }

    /// Looks once. Blocks for file access.
    mutating func look() -> Outcome {
        // Taken before the files are read: what changes while they are is seen by the next look.
        let seen = AppsDirectory.stamp(folder, others: named)
        guard seen != stamp else { return .unchanged }
        stamp = seen
        let read = AppFiles.read(folder)
        // A folder with mistakes names no key files: those of before are still looked at.
        if !read.named.isEmpty { named = read.named }
        // Of files that were named only now, the stamp from before they were read.
        stamp = read.named.isEmpty ? seen : read.stamp
        guard read.problems.isEmpty, read.directory.count > 0 else {
            rejected.increment()
            stale.set(1)
            for problem in read.problems {
                logger.error(
                    "the apps' files have a mistake; the former ones stay in force", ["problem": .string(problem)])
            }
            return .rejected(problems: read.problems.count)
        }
        apps.replace(by: read.directory)
        replaced.increment()
        stale.set(0)
        logger.info("the apps' files were read again", ["apps": .int(read.directory.count)])
        return .replaced(apps: read.directory.count)
    }
}

/// The thread that looks.
struct AppsWatchPart: ServicePart {
    private let thread: NamedThread

    var name: String { "apps" }
    var isReady: Bool { true }

    /// Looks every `interval` until `stop`.
    static func start(_ watch: AppsWatch, every interval: Duration, stop: StopSignal) -> AppsWatchPart {
        AppsWatchPart(
            thread: NamedThread.start(name: "apps") {
                var watch = watch
                while !stop.wait(for: interval) { _ = watch.look() }
            })
    }

    func shutDown(within limit: Duration) -> Bool { thread.join(for: limit) }
}
