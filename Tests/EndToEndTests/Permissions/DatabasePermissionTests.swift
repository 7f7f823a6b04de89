import Postgres
import TestSupport
import Testing

/// What a service that was taken over could do in the database: exactly what its row says. Every role attempts
/// everything on every table and column the catalogue has.
@Suite(.serialized) struct DatabasePermissionTests {
    @Test func `every table has its rights written down`() async throws {
        let stage = try await DatabaseStage.make()
        #expect(Set(stage.tables.keys) == Set(DatabaseRights.rows.map(\.name)))
        #expect(Set(DatabaseRights.rows.map(\.schema)) == Set(DatabaseRights.services))
    }

    @Test(arguments: DatabaseRights.roles)
    func `a role does with tables what its row says, everything else is refused (S47)`(_ role: String) async throws {
        let stage = try await DatabaseStage.make()
        try await onThread {
            var connection = try stage.connect(role)
            for table in DatabaseRights.rows {
                // A generated column takes no value whoever writes; an identity only takes its default.
                let columns = stage.tables[table.name] ?? []
                let actions =
                    [DatabaseRights.Action.read, .insert, .delete, .truncate]
                    + columns.map { .update(column: $0.name) }
                for action in actions {
                    let isAllowed = try DatabaseStage.isAllowed(stage.statement(action, table), &connection)
                    #expect(isAllowed == DatabaseRights.may(role, action, table), "\(role): \(action) \(table.name)")
                }
            }
        }
    }

    @Test(arguments: DatabaseRights.roles.filter { $0 != "purser_migrator" })
    func `no role but the owner may point at tables, use sequences and functions, or make anything (S47)`(
        _ role: String
    ) async throws {
        let stage = try await DatabaseStage.make()
        try await onThread {
            var connection = try stage.deployment.platform.connect(stage.deployment.database)
            func names(_ sql: String) throws -> [String] {
                let rows = try connection.query(sql.replacing("ROLE", with: "'\(role)'"))
                return try rows.map { try $0.text("name") }
            }
            let own = "relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema)')"
            let tables = try names(
                """
                SELECT oid::regclass::text AS name FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND \(own)
                    AND (has_table_privilege(ROLE, oid, 'REFERENCES, TRIGGER, TRUNCATE')
                        OR has_any_column_privilege(ROLE, oid, 'REFERENCES'))
                """)
            let sequences = try names(
                """
                SELECT oid::regclass::text AS name FROM pg_class WHERE \(own)
                    AND CASE relkind WHEN 'S' THEN has_sequence_privilege(ROLE, oid, 'USAGE, SELECT, UPDATE') END
                """)
            let functions = try names(
                """
                SELECT oid::regprocedure::text AS name FROM pg_proc WHERE pronamespace IN
                    (SELECT oid FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema)')
                    AND has_function_privilege(ROLE, oid, 'EXECUTE') ORDER BY 1
                """)
            #expect(tables + sequences == [] && functions == DatabaseRights.functions(of: role))
            let schemas = try names(
                """
                SELECT nspname AS name FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema)'
                    AND has_schema_privilege(ROLE, oid, 'USAGE') ORDER BY 1
                """)
            #expect(schemas == DatabaseRights.services.filter { role == "purser_auditor" || role == "purser_\($0)" })
            let makes = try names(
                """
                SELECT nspname AS name FROM pg_namespace WHERE has_schema_privilege(ROLE, oid, 'CREATE')
                UNION ALL SELECT datname FROM pg_database
                    WHERE datname = current_database() AND has_database_privilege(ROLE, oid, 'CREATE, TEMPORARY')
                UNION ALL SELECT spcname FROM pg_tablespace WHERE has_tablespace_privilege(ROLE, oid, 'CREATE')
                """)
            #expect(makes == [])
        }
    }

    @Test func `whoever may use a table of months goes by that table, its months are the owner's (S47)`() async throws {
        let stage = try await DatabaseStage.make()
        try await onThread {
            var connection = try stage.deployment.platform.connect(stage.deployment.database)
            try connection.executeScript("SELECT reconciliation.make_month(1780000000000)")
            let rights = try connection.query(
                """
                SELECT c.oid::regclass::text || ' ' || r.rolname AS name FROM pg_class c, pg_roles r
                WHERE c.relispartition AND c.relkind = 'r' AND r.rolname LIKE 'purser\\_%'
                    AND r.rolname <> 'purser_migrator'
                    AND has_table_privilege(r.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
                """)
            #expect(try rights.map { try $0.text("name") } == [])
            let months = try connection.query(
                "SELECT FROM pg_inherits WHERE inhparent = 'reconciliation.journal'::regclass")
            #expect(months.count == 1)
        }
    }

    /// What nobody who logs in for us can do, not even the owner.
    static let attempts = [
        "SET ROLE postgres", "SET SESSION AUTHORIZATION postgres", "SET session_replication_role = replica",
        "ALTER SYSTEM SET fsync = off", "SELECT pg_read_file('/etc/passwd')", "SELECT pg_ls_dir('/')",
        "COPY (SELECT 1) TO PROGRAM 'true'", "COPY (SELECT 1) TO '/tmp/purser-copied'",
        "CREATE DATABASE intruder", "CREATE ROLE intruder", "ALTER ROLE postgres PASSWORD 'x'",
        "SELECT * FROM pg_authid", "CREATE TABLESPACE intruder LOCATION '/tmp'", "LOAD 'plpgsql'",
        "SELECT lo_create(0)", "SELECT lo_import('/etc/passwd')",
    ]
    /// The same for all but the owner.
    static let attemptsOfServices = [
        "SET ROLE purser_migrator", "CREATE TEMP TABLE t ()", "CREATE TABLE granting.t ()", "CREATE TABLE public.t ()",
        "CREATE SCHEMA s", "ALTER TABLE granting.ledger DISABLE TRIGGER ALL", "DROP TABLE granting.ledger",
        "DROP TRIGGER append_only ON granting.ledger",
        "DROP FUNCTION granting.refuse_change()",
        "DO $$BEGIN LOCK TABLE granting.ledger IN ACCESS EXCLUSIVE MODE; END$$",
        "DROP SCHEMA verification CASCADE", "DROP TABLE verification.evidence",
        "ALTER TABLE verification.facts DISABLE TRIGGER append_only", "ALTER ROLE purser_auditor PASSWORD 'x'",
    ]

    @Test(arguments: DatabaseRights.roles)
    func `no role becomes another or reaches the server's files, programs and settings (S47)`(_ role: String)
        async throws
    {
        let stage = try await DatabaseStage.make()
        try await onThread {
            var connection = try stage.connect(role)
            let statements = Self.attempts + (role == "purser_migrator" ? [] : Self.attemptsOfServices)
            for statement in statements where statement != "ALTER ROLE \(role) PASSWORD 'x'" {
                let isAllowed = try DatabaseStage.isAllowed(statement, &connection)
                #expect(!isAllowed, "\(role) may \(statement)")
            }
        }
    }

    @Test func `no role has attributes, memberships or built-in functions that others have not`() async throws {
        let stage = try await DatabaseStage.make()
        try await onThread {
            var connection = try stage.deployment.platform.connect(stage.deployment.database)
            let attributes = try connection.query(
                """
                SELECT rolname FROM pg_roles WHERE rolname LIKE 'purser\\_%'
                    AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls)
                """)
            #expect(attributes.isEmpty)
            let members = try connection.query(
                """
                SELECT FROM pg_auth_members m
                WHERE m.roleid IN (SELECT oid FROM pg_roles WHERE rolname LIKE 'purser\\_%')
                    OR m.member IN (SELECT oid FROM pg_roles WHERE rolname LIKE 'purser\\_%')
                """)
            #expect(members.isEmpty)
            let functions = try connection.query(
                """
                SELECT r.rolname || ' ' || p.oid::regprocedure AS name FROM pg_proc p, pg_roles r
                WHERE r.rolname LIKE 'purser\\_%' AND p.pronamespace = 'pg_catalog'::regnamespace
                    AND NOT has_function_privilege('public', p.oid, 'EXECUTE')
                    AND has_function_privilege(r.oid, p.oid, 'EXECUTE')
                """)
            #expect(try functions.map { try $0.text("name") } == [])
            #expect(try connection.query("SELECT FROM pg_parameter_acl").isEmpty)
            let owners = try connection.query(
                """
                SELECT DISTINCT pg_get_userbyid(relowner) AS name FROM pg_class
                WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('granting', 'intake', 'reconciliation', 'verification'))
                """)
            #expect(try owners.map { try $0.text("name") } == ["purser_migrator"])
        }
    }

    @Test func `nobody else may connect, and nobody of ours to another database`() async throws {
        let stage = try await DatabaseStage.make()
        try await onThread {
            var superuser = try stage.deployment.platform.connect()
            let stranger = "stranger_\(UInt32.random(in: 0 ... .max))"
            let password = stage.deployment.platform.rolePassword("purser_auditor")
            try superuser.executeScript("CREATE ROLE \(stranger) LOGIN PASSWORD '\(password)'")
            defer { try? superuser.executeScript("DROP ROLE \(stranger)") }
            let conninfo = "\(stage.deployment.platform.superuser) user=\(stranger) password=\(password)"
            #expect(throws: PostgresError.self) {
                _ = try Connection.open(conninfo + " dbname=\(stage.deployment.database)", applicationName: "stranger")
            }
            for role in DatabaseRights.roles {
                for database in ["postgres", "template1"] {
                    #expect(throws: PostgresError.self, "\(role) in \(database)") {
                        _ = try stage.connect(role, database)
                    }
                }
            }
        }
    }
}
