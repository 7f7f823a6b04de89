import AppStore
public import Apps
public import Observability
public import Reloading
public import Service

/// Where a service that verifies finds whom it believes: its settings `APPS` and `ROOTS`.
public struct TrustFiles: Sendable, Equatable {
    /// The folder of the apps' files.
    public let appsFolder: String
    /// A PEM file of roots trusted beside Apple's.
    public let rootsFile: String?

    /// How often the apps' files are looked at for changes; nil: never.
    public let reloadInterval: Duration?

    /// Reads the settings.
    public init(_ reader: inout SettingsReader) {
        appsFolder = reader.text("APPS", meaning: "the folder of apps/<id>.yaml")
        rootsFile = reader.optionalText(
            "ROOTS",
            meaning: "a PEM file of roots to trust beside Apple's: the App Store simulator's; never in production")
        reloadInterval = ReloadSetting.read(&reader)
    }

    /// What `check` says about them.
    public func check() -> [CheckResult] {
        switch TrustSettings.load(appsFolder: appsFolder, rootsFile: rootsFile) {
        case .success: [CheckResult("apps and roots")]
        case .failure(let problems): problems.sentences.map { CheckResult("apps and roots", problem: $0) }
        }
    }

    /// Reads the files and follows the apps' from then on. Roots are read once: a file that changes makes nobody trusted.
    ///
    /// - Parameters:
    ///   - files: what else is read for these apps.
    ///   - make: what is to be in force, made of whom the service believes and of the apps.
    public func follow<Value: Sendable>(
        _ context: ServiceContext, files: @escaping @Sendable ([AppConfiguration]) -> [String] = { _ in [] },
        make: @escaping @Sendable (TrustSettings, [AppConfiguration]) -> Value
    ) throws -> (live: Live<Value>, parts: [any ServicePart]) {
        let trust = try load(context.logger)
        let read: @Sendable () -> AppsReading<Value> = { [appsFolder] in
            Self.read(appsFolder, files) { make(TrustSettings(apps: $0.map(AcceptedApp.init), roots: trust.roots), $0) }
        }
        let first = read()
        guard let value = first.value else { throw TrustSettings.Problems(sentences: first.problems) }
        let live = Live(value)
        guard let reloadInterval else { return (live, []) }
        let watch = AppsWatch(
            folder: appsFolder, live: live, first: first, logger: context.logger, metrics: context.metrics, read: read)
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

    /// Reads the files; roots besides Apple's are told at every start.
    public func load(_ logger: Logger) throws -> TrustSettings {
        let trust = try TrustSettings.load(appsFolder: appsFolder, rootsFile: rootsFile).get()
        if rootsFile != nil {
            logger.warning("roots besides Apple's are trusted; never do this where money is real")
        }
        return trust
    }
}
