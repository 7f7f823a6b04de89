public import Observability
public import Service

/// Where a service that verifies finds whom it believes: its settings `APPS` and `ROOTS`.
public struct TrustFiles: Sendable, Equatable {
    /// The folder of the apps' files.
    public let appsFolder: String
    /// A PEM file of roots trusted beside Apple's.
    public let rootsFile: String?

    /// Reads the two settings.
    public init(_ reader: inout SettingsReader) {
        appsFolder = reader.text("APPS", meaning: "the folder of apps/<id>.yaml")
        rootsFile = reader.optionalText(
            "ROOTS",
            meaning: "a PEM file of roots to trust beside Apple's: the App Store simulator's; never in production")
    }

    /// What `check` says about them.
    public func check() -> [CheckResult] {
        switch TrustSettings.load(appsFolder: appsFolder, rootsFile: rootsFile) {
        case .success: [CheckResult("apps and roots")]
        case .failure(let problems): problems.sentences.map { CheckResult("apps and roots", problem: $0) }
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
