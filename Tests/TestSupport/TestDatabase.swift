import Glibc
public import Postgres
import Synchronization

/// The real PostgreSQL of the test run: a fresh database for each suite, made from `template0` and dropped when the run
/// ends.
///
/// `PURSER_TEST_POSTGRES` is the conninfo (key=value form) of a superuser on a private cluster;
/// `infra/scripts/test-services` starts one. Everything here blocks (own threads only), except ``shared(_:)``.
public final class TestDatabase: Sendable {
    /// The name of this suite's database.
    public let name: String
    /// The superuser's way into this database.
    public let conninfo: String

    /// The password of every role made by ``createRole(_:)``.
    private let rolePassword: String
    private static let made = Mutex<[String: TestDatabase]>([:])

    private init(name: String, conninfo: String, rolePassword: String) {
        self.name = name
        self.conninfo = conninfo
        self.rolePassword = rolePassword
    }

    /// The database of the suite `suite`, made at the first call of the run.
    public static func shared(_ suite: String) async throws -> TestDatabase {
        try await onThread {
            try made.withLock { databases in
                if let database = databases[suite] { return database }
                let database = try make(suite)
                // After the first connection: OpenSSL registers its own clean-up then, and the later one runs first.
                if databases.isEmpty { atexit { TestDatabase.dropAll() } }
                databases[suite] = database
                return database
            }
        }
    }

    /// A copy of this database as it is now, to be changed at will. Nobody may be connected to this one.
    public func copy() throws -> TestDatabase {
        let copy = try Self.make("copy", template: name)
        Self.made.withLock { $0[copy.name] = copy }
        return copy
    }

    /// Without a template from `template0`: empty whatever somebody put into `template1`.
    private static func make(_ suite: String, template: String = "template0") throws -> TestDatabase {
        let cluster = try TestSetting.required("PURSER_TEST_POSTGRES")
        let unique = String(UInt64.random(in: 0 ... .max), radix: 36)
        let name = "test_\(suite)_\(unique)"
        var connection = try open(cluster)
        try connection.executeScript("CREATE DATABASE \"\(name)\" TEMPLATE \"\(template)\" ENCODING 'UTF8'")
        // A repeated keyword overrides the earlier one.
        return TestDatabase(
            name: name, conninfo: "\(cluster) dbname=\(name)",
            rolePassword: try TestSetting.required("PURSER_TEST_ROLE_PASSWORD"))
    }

    private static func dropAll() {
        let databases = made.withLock { databases in
            defer { databases.removeAll() }
            return Array(databases.values)
        }
        for database in databases { try? database.drop() }
    }

    /// Drops the database, ending every session in it.
    public func drop() throws {
        var connection = try Self.open(try TestSetting.required("PURSER_TEST_POSTGRES"))
        try connection.executeScript("DROP DATABASE IF EXISTS \"\(name)\" WITH (FORCE)")
    }

    /// Where a service gives up and tries again, a test's own session waits: a busy machine is no reason to fail.
    private static let patience = [
        "statement_timeout": "120s", "lock_timeout": "60s", "idle_in_transaction_session_timeout": "120s",
    ]

    /// Opens a connection of the superuser, or of a role made by ``createRole(_:)``. What a role only sets for itself
    /// (the auditor: read-only) it can unset: it is unset, so that rights are tested alone. Timeouts
    /// are generous.
    public func open(role: String? = nil, parameters: [String: String] = [:]) throws(PostgresError) -> Connection {
        let own = role == "purser_auditor" ? " options='-c default_transaction_read_only=off'" : ""
        return try Connection.open(
            "\(conninfo(role: role)) connect_timeout=60\(own)", applicationName: "test",
            parameters: Self.patience.merging(parameters) { $1 })
    }

    /// The conninfo of a role made by ``createRole(_:)``, for processes under test.
    public func conninfo(role: String?) -> String {
        guard let role else { return conninfo }
        return "\(conninfo) user=\(role) password=\(rolePassword)"
    }

    /// The conninfo by way of a proxy on 127.0.0.1, unencrypted so that the proxy can see what passes.
    public func conninfo(proxyPort: Int, role: String? = nil) -> String {
        "\(conninfo(role: role)) host=127.0.0.1 port=\(proxyPort) sslmode=disable"
    }

    /// The port the cluster listens on.
    public var port: Int {
        get throws {
            for word in conninfo.split(separator: " ") where word.hasPrefix("port=") {
                if let port = Int(word.dropFirst(5)) { return port }
            }
            throw TestSetting.Missing(description: "PURSER_TEST_POSTGRES has no port=")
        }
    }

    /// Makes a role that can log in, if it is not there yet: roles belong to the cluster, so suites share them.
    public func createRole(_ role: String) throws {
        // In the cluster's own database: advisory locks do not reach across databases, roles do.
        var connection = try Self.open(try TestSetting.required("PURSER_TEST_POSTGRES"))
        _ = try connection.transaction { transaction in
            // Serialises suites that make the same role at the same time.
            _ = try transaction.query("SELECT pg_advisory_xact_lock(hashtext('purser roles'))")
            let known = try transaction.query("SELECT FROM pg_roles WHERE rolname = $1", [.text(role)])
            // A migration may have made it, without a login.
            let verb = known.isEmpty ? "CREATE" : "ALTER"
            try transaction.executeScript("\(verb) ROLE \"\(role)\" LOGIN PASSWORD '\(rolePassword)'")
        }
    }

    /// Runs a script as superuser, for set-up.
    public func execute(_ script: String) throws(PostgresError) {
        var connection = try open()
        try connection.executeScript(script)
    }

    private static func open(_ conninfo: String) throws(PostgresError) -> Connection {
        try Connection.open("\(conninfo) connect_timeout=60", applicationName: "test", parameters: patience)
    }
}
