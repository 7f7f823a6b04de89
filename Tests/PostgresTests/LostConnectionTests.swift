import TestSupport
import Testing

@testable import Postgres

/// What is told when the connection breaks, and what then is true.
@Suite struct LostConnectionTests {
    @Test func `a backend terminated inside a transaction took nothing with it`() async throws {
        let database = try await database()
        try await onThread {
            try database.execute("CREATE TABLE killed (n bigint)")
            var killer = try database.open()
            var victim = try database.open()
            let process = victim.backendProcessID
            let error = try failure {
                try victim.transaction { transaction in
                    _ = try transaction.query("INSERT INTO killed VALUES (1)")
                    try terminate(process, by: &killer)
                    _ = try transaction.query("INSERT INTO killed VALUES (2)")
                }
            }
            #expect(error?.retryClass == .wait)
            let isUsable = victim.isUsable
            #expect(!isUsable)
            #expect(try killer.query("SELECT count(*) AS n FROM killed").single().int8("n") == 0)
        }
    }

    @Test func `a backend terminated before COMMIT leaves an ambiguous commit`() async throws {
        let database = try await database()
        try await onThread {
            var killer = try database.open()
            var victim = try database.open()
            // From the second one on, COMMIT is prepared and sent alone.
            try victim.transaction { _ = try $0.query("SELECT 1") }
            let process = victim.backendProcessID
            let error = try failure {
                try victim.transaction { transaction in
                    _ = try transaction.query("SELECT 1")
                    try terminate(process, by: &killer)
                }
            }
            guard case .ambiguousCommit = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.retryClass == .ambiguous)
        }
    }

    private func terminate(_ process: Int32, by killer: inout Connection) throws {
        _ = try killer.query("SELECT pg_terminate_backend($1)", [.int4(process)])
        try eventually(within: .seconds(60), "the backend is gone") {
            try killer.query("SELECT FROM pg_stat_activity WHERE pid = $1", [.int4(process)]).isEmpty
        }
    }

    @Test(arguments: [(FaultyProxy.Moment.beforeForwarding, Int64(0)), (.whenAnswered, 1)])
    func `a connection cut during COMMIT is ambiguous, whichever way it went`(
        moment: FaultyProxy.Moment, rows: Int64
    ) async throws {
        let database = try await database()
        try await onThread {
            let table = "ambiguous_\(rows)"
            try database.execute("CREATE TABLE \(table) (n bigint)")
            let proxy = try FaultyProxy(port: try database.port)
            defer { proxy.close() }
            var connection = try Connection.open(database.conninfo(proxyPort: proxy.port), applicationName: "test")
            proxy.cut(whenSeen: "COMMIT", from: .client, moment)
            let error = try failure {
                try connection.transaction { _ = try $0.query("INSERT INTO \(table) VALUES (1)") }
            }
            guard case .ambiguousCommit = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(proxy.triggeredCuts == 1)
            let isUsable = connection.isUsable
            #expect(!isUsable)
            var other = try database.open()
            // The server may still be committing for a moment after the connection is cut.
            try eventually(within: .seconds(60), "the outcome") {
                try other.query("SELECT count(*) AS n FROM \(table)").single().int8("n") == rows
            }
        }
    }

    @Test(arguments: [FaultyProxy.Moment.beforeForwarding, .whenAnswered])
    func `a pipeline cut in flight is ambiguous, a query inside a transaction is not`(
        moment: FaultyProxy.Moment
    ) async throws {
        let database = try await database()
        try await onThread {
            let proxy = try FaultyProxy(port: try database.port)
            defer { proxy.close() }
            var piped = try Connection.open(database.conninfo(proxyPort: proxy.port), applicationName: "test")
            proxy.cut(whenSeen: "SELECT 'marker'", from: .client, moment)
            let ambiguous = try failure { _ = try piped.pipeline([Statement("SELECT 'marker'")]) }
            #expect(ambiguous?.retryClass == .ambiguous)

            var inside = try Connection.open(database.conninfo(proxyPort: proxy.port), applicationName: "test")
            proxy.cut(whenSeen: "SELECT 'marker'", from: .client, moment)
            let lost = try failure { try inside.transaction { _ = try $0.query("SELECT 'marker'") } }
            guard case .connectionLost = lost else {
                Issue.record("\(String(describing: lost))")
                return
            }
            #expect(lost?.retryClass == .wait)
        }
    }

    @Test func `a server that stays silent beyond its own timeout counts as lost`() async throws {
        let database = try await database()
        try await onThread {
            let proxy = try FaultyProxy(port: try database.port)
            defer { proxy.close() }
            var connection = try Connection.open(
                database.conninfo(proxyPort: proxy.port), applicationName: "test",
                parameters: ["statement_timeout": "1s"])
            connection.grace = .seconds(1)
            proxy.stall()
            let start = ContinuousClock.now
            let error = try failure { try connection.transaction { _ = try $0.query("SELECT 1") } }
            #expect(error == .connectionLost("no answer in time"))
            #expect(ContinuousClock.now - start < .seconds(60), "it does not wait for the network's own time limits")
        }
    }
}
