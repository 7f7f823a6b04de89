import Apps
import Messages
import Observability

/// The clocks by which apps' days are counted.
enum AppClocks {
    /// By app; read when they are needed, which is once a minute. While a file has a mistake every app goes by UTC, and
    /// a line says so: a day that is compared twice is better than one that is not.
    static func read(_ folder: String, logger: Logger) -> [String: String] {
        switch AppsDirectory.load(folder) {
        case .success(let apps):
            return Dictionary(
                apps.map { ($0.id.rawValue, $0.timeZone ?? DayPlan.standardZone) },
                uniquingKeysWith: { first, _ in first })
        case .failure(let error):
            logger.warning(
                "the apps' clocks cannot be read; their days are UTC's", ["problems": .int(error.problems.count)])
            return [:]
        }
    }
}
