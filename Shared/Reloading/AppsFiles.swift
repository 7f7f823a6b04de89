public import Apps
import Observability
public import Service

/// The apps' folder as a service reads and follows it: its settings `APPS` and `APPS_RELOAD_SECONDS`.
public struct AppsFiles: Sendable, Equatable {
    /// The folder of the apps' files.
    public let folder: String
    /// How often they are looked at for changes; nil: never.
    public let reloadInterval: Duration?

    /// What is wrong with the files.
    public struct Problems: Error, CustomStringConvertible {
        /// Each.
        public let sentences: [String]
        /// All of them.
        public var description: String { sentences.joined(separator: "; ") }
    }

    /// Composes them.
    public init(folder: String, reloadInterval: Duration?) {
        self.folder = folder
        self.reloadInterval = reloadInterval
    }

    /// Reads the files and follows them from then on.
    ///
    /// - Parameters:
    ///   - files: what else is read for these apps.
    ///   - make: what is to be in force.
    public func follow<Value: Sendable>(
        _ context: ServiceContext, files: @escaping @Sendable ([AppConfiguration]) -> [String] = { _ in [] },
        make: @escaping @Sendable ([AppConfiguration]) -> Value
    ) throws(Problems) -> (live: Live<Value>, parts: [any ServicePart]) {
        let read: @Sendable () -> AppsReading<Value> = { [folder] in Self.read(folder, files, make) }
        let first = read()
        guard let value = first.value else { throw Problems(sentences: first.problems) }
        let live = Live(value)
        guard let reloadInterval else { return (live, []) }
        let watch = AppsWatch(
            folder: folder, live: live, first: first, logger: context.logger, metrics: context.metrics, read: read)
        return (live, [AppsWatchPart.start(watch, every: reloadInterval, stop: context.stop)])
    }

    private static func read<Value: Sendable>(
        _ folder: String, _ files: ([AppConfiguration]) -> [String], _ make: ([AppConfiguration]) -> Value
    ) -> AppsReading<Value> {
        let before = AppsDirectory.stamp(folder, others: [])
        switch AppsDirectory.load(folder) {
        case .failure(let error):
            return AppsReading(value: nil, count: 0, problems: error.problems.map { "\($0)" }, files: [], stamp: before)
        case .success(let apps):
            let files = files(apps)
            let whole = AppsDirectory.stamp(folder, others: files)
            // Both before what they stand for is read, or the next look finds a difference and reads it again.
            let stamp = AppsDirectory.stamp(folder, others: []) == before ? whole : before
            return AppsReading(value: make(apps), count: apps.count, problems: [], files: files, stamp: stamp)
        }
    }
}
