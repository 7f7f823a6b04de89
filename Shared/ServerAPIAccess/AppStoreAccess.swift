import AppStoreServerAPI
public import Apps
public import Crypto
public import Messages
public import Service

/// The apps' keys for Apple's Server API, as they were read at one time.
public struct AppStoreAccess: Sendable {
    /// What is known of an app.
    public enum Entry: Sendable {
        /// It may call.
        case key(issuerID: String, keyID: String, key: P256.PrivateKey)
        /// It names a key that cannot be used.
        case unusable
        /// It names none.
        case none
    }

    /// By app.
    public let entries: [AppID: Entry]

    /// What is wrong with an app's key.
    public struct Problem: Sendable, Equatable {
        /// The app.
        public let app: AppID
        /// A sentence.
        public let text: String
    }

    /// Reads the keys of all apps. An unusable one is a problem and used for nothing.
    ///
    /// - Parameter reasonToWant: what an app without a key would need one for; nil: nothing.
    public static func read(
        _ apps: [AppConfiguration], reasonToWant: (AppConfiguration) -> String? = { _ in nil }
    ) -> (access: AppStoreAccess, problems: [Problem]) {
        var entries: [AppID: Entry] = [:]
        var problems: [Problem] = []
        for app in apps {
            let (entry, sentences) = read(app, reasonToWant(app))
            entries[app.id] = entry
            problems += sentences.map { Problem(app: app.id, text: $0) }
        }
        return (AppStoreAccess(entries: entries), problems)
    }

    /// What `check` says.
    public static func check(
        appsFolder: String, reasonToWant: (AppConfiguration) -> String? = { _ in nil }
    ) -> [CheckResult] {
        guard case .success(let apps) = AppsDirectory.load(appsFolder) else { return [] }
        return apps.flatMap { app -> [CheckResult] in
            let subject = "Server API key of \(app.id)"
            let problems = read(app, reasonToWant(app)).problems
            return problems.isEmpty ? [CheckResult(subject)] : problems.map { CheckResult(subject, problem: $0) }
        }
    }

    private static func read(_ app: AppConfiguration, _ reason: String?) -> (entry: Entry, problems: [String]) {
        guard let settings = app.appStoreConnect else {
            let missing = reason.map { "\($0), and there is no `appStoreConnect` with the key for it" }
            return (.none, missing.map { [$0] } ?? [])
        }
        switch settings.load() {
        case .success(let key):
            return (.key(issuerID: settings.issuerID, keyID: settings.keyID, key: key), [])
        case .failure(let error): return (.unusable, error.problems.map { "\($0)" })
        }
    }
}
