import AppStoreServerAPI
import Apps
import Crypto
import Messages
import Observability
import Service

/// The apps' keys for Apple's Server API, as they were read at one time.
struct AppStoreAccess: Sendable {
    /// What is known of an app.
    enum Entry: Sendable {
        /// It may call.
        case key(issuerID: String, keyID: String, key: P256.PrivateKey)
        /// It names no key, or one that cannot be used.
        case none
    }

    /// By app.
    let entries: [AppID: Entry]

    /// Reads the keys of all apps. An unusable one is told and used for nothing; its app's requests wait.
    static func read(_ apps: [AppConfiguration], logger: Logger) -> AppStoreAccess {
        var entries: [AppID: Entry] = [:]
        for app in apps {
            let (entry, problems) = read(app)
            entries[app.id] = entry
            for problem in problems {
                logger.error(
                    "Apple cannot be told about consumption",
                    ["app": .string(app.id.rawValue), "problem": .string(problem)])
            }
        }
        return AppStoreAccess(entries: entries)
    }

    /// What `check` says.
    static func check(appsFolder: String) -> [CheckResult] {
        guard case .success(let apps) = AppsDirectory.load(appsFolder) else { return [] }
        return apps.flatMap { app -> [CheckResult] in
            let subject = "Server API key of \(app.id)"
            let problems = read(app).problems
            return problems.isEmpty ? [CheckResult(subject)] : problems.map { CheckResult(subject, problem: $0) }
        }
    }

    /// The key of an app; without one it is a problem only if the app wants requests answered.
    private static func read(_ app: AppConfiguration) -> (entry: Entry, problems: [String]) {
        guard let settings = app.appStoreConnect else {
            let isWanted = app.catalog.definition.policies.consumption != nil
            return (
                .none,
                isWanted
                    ? ["policies say `consumption: answer`, and there is no `appStoreConnect` with the key for it"] : []
            )
        }
        switch settings.load() {
        case .success(let key):
            return (.key(issuerID: settings.issuerID, keyID: settings.keyID, key: key), [])
        case .failure(let error): return (.none, error.problems.map { "\($0)" })
        }
    }
}
