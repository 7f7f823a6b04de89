import Apps
import Messages
import Observability
import ServerAPIAccess

/// What the apps' files said at one time: whom Apple may be asked for, and whose clock ends whose day.
struct FollowedApps: Sendable {
    /// The keys.
    let access: AppStoreAccess
    /// Every app with a key, usable or not, by environment and bundle id.
    let places: [ServerAPIClients.Place]
    /// The time zones of all apps, by id.
    let zones: [String: String]

    /// Reads the apps' keys; one that cannot be used is told here and becomes a finding.
    init(_ apps: [AppConfiguration], logger: Logger) {
        let (access, problems) = AppStoreAccess.read(apps)
        self.access = access
        zones = Dictionary(
            apps.map { ($0.id.rawValue, $0.timeZone ?? DayPlan.standardZone) }, uniquingKeysWith: { first, _ in first })
        places = apps.filter { $0.appStoreConnect != nil }.flatMap { app in
            [StoreEnvironment.production, .sandbox].filter(app.environments.contains).flatMap { environment in
                app.bundleIDs.map { ServerAPIClients.Place(app: app.id, environment: environment, bundleID: $0) }
            }
        }
        for problem in problems {
            logger.error(
                "Apple cannot be asked for an app",
                ["app": .string(problem.app.rawValue), "problem": .string(problem.text)])
        }
    }
}

extension ServerAPIClients.Place {
    /// `Production/game/com.example.game`: what a finding about it is about.
    var subject: String { "\(environment.rawValue)/\(app)/\(bundleID)" }
}
