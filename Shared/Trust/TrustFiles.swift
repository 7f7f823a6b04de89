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
        do throws(AppsFiles.Problems) {
            return try AppsFiles(folder: appsFolder, reloadInterval: reloadInterval).follow(context, files: files) {
                make(TrustSettings(apps: $0.map(AcceptedApp.init), roots: trust.roots), $0)
            }
        } catch {
            throw TrustSettings.Problems(sentences: error.sentences)
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
