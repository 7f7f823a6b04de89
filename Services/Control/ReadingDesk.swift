import Observability
import Postgres

/// The database as an operator reads it: as role `purser_auditor`, one session, read only.
enum ReadingDesk {
    /// What a reading session is allowed. An operator's question takes a walk along an index; one that takes a minute
    /// is a mistake, and must not hold up anybody.
    private static let parameters = [
        "statement_timeout": "60s", "lock_timeout": "5s", "idle_in_transaction_session_timeout": "60s",
        "default_transaction_read_only": "on",
    ]

    /// Opens it for the command called `name` and runs `body`. Wrong settings are told and give 2; a database that cannot be read gives 1. Blocks.
    static func with(
        _ environment: [String: String], for name: String, _ output: (String) -> Void,
        _ body: (inout Connection) throws -> Int32
    ) -> Int32 {
        switch ControlSettings.read(environment: environment, needing: [.database]) {
        case .failure(let problems):
            for sentence in problems.sentences { output(sentence) }
            return 2
        case .success(let settings):
            guard let database = settings.database else { return 2 }
            do {
                var connection = try Connection.open(
                    database, applicationName: "purser \(name)", parameters: parameters, acceptsReadOnly: true)
                return try body(&connection)
            } catch let error as PostgresError {
                output("\(error)")
                output(advice(for: error))
            } catch {
                output("\(error)")
            }
            return 1
        }
    }

    /// What to do about an error of the database.
    static func advice(for error: PostgresError) -> String {
        switch error {
        case .invalidConnectionString, .cannotConnect: "check PURSER_CONTROL_DATABASE, and that the database runs"
        default:
            switch error.sqlState {
            case "42501": "let purser_auditor read every schema, as infra/scripts/roles and the migrations do"
            case "42P01", "42703", "3F000", "42883":
                "the schema does not fit this program: run purser-<service> migrate, or take the same version"
            case "57014", "55P03": "the database was too slow or locked: try again when it is less busy"
            default: "try again; if it stays so, look at the database's log"
            }
        }
    }
}
