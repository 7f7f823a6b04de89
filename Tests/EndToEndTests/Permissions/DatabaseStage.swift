import Postgres
import TestSupport

/// A database with the roles of infra/scripts/roles and every migration, and what its catalogue knows.
struct DatabaseStage: Sendable {
    /// A column, and what may be written into it.
    struct Column: Sendable {
        let name: String
        let type: String
        /// Whether a value may be given (not for identity and generated columns).
        let isWritable: Bool
    }

    let deployment: Deployment
    /// Tables, views and the like outside PostgreSQL's own schemas, with their columns.
    let tables: [String: [Column]]

    static func make() async throws -> DatabaseStage {
        let deployment = try await Deployment.idle("rights")
        return try await onThread {
            var connection = try deployment.platform.connect(deployment.database)
            let rows = try connection.query(
                """
                SELECT c.oid::regclass::text AS name, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type,
                    a.attidentity = '' AND a.attgenerated = '' AS writable
                FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
                    AND c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace,
                        'pg_toast'::regnamespace)
                ORDER BY c.oid, a.attnum
                """)
            var tables: [String: [Column]] = [:]
            for row in rows {
                let column = Column(
                    name: try row.text("column"), type: try row.text("type"), isWritable: try row.bool("writable"))
                tables[try row.text("name"), default: []].append(column)
            }
            return DatabaseStage(deployment: deployment, tables: tables)
        }
    }

    /// A session of a role. What the auditor only sets for itself, read-only, an intruder would unset.
    func connect(_ role: String, _ database: String? = nil) throws -> Connection {
        let conninfo = deployment.platform.conninfo(role: role, database: database ?? deployment.database)
        return try Connection.open(
            conninfo + " options='-c default_transaction_read_only=off'", applicationName: "intruder",
            parameters: ["statement_timeout": "60s"])
    }

    /// The statement that does something to a table without touching a row: rights are looked at before rows are.
    func statement(_ action: DatabaseRights.Action, _ table: DatabaseRights.Table) -> String {
        switch action {
        case .read: return "SELECT FROM \(table.name) LIMIT 0"
        case .insert:
            let column = tables[table.name]?.first(where: \.isWritable)
            return "INSERT INTO \(table.name) (\(column?.name ?? "")) SELECT NULL::\(column?.type ?? "text") LIMIT 0"
        case .update(let column): return "UPDATE \(table.name) SET \"\(column)\" = DEFAULT WHERE false"
        case .delete: return "DELETE FROM \(table.name) WHERE false"
        // Tables that others point at can only be emptied with those.
        case .truncate: return "TRUNCATE \(table.name)" + (table.isSealed ? " CASCADE" : "")
        }
    }

    /// Whether PostgreSQL lets a session do something; errors that come after the rights were looked at do not count.
    static func isAllowed(_ statement: String, _ connection: inout Connection) throws -> Bool {
        do {
            _ = try connection.query(statement)
            return true
        } catch {
            guard let state = error.sqlState, connection.isUsable else { throw error }
            // 42501: insufficient privilege, by a missing right or by the trigger of a sealed table.
            // 55000, 42809: a view nothing can be written through, which is said before rights are looked at.
            return !["42501", "55000", "42809"].contains(state)
        }
    }
}
