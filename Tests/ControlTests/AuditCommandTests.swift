import FoundationEssentials
import JSON
import Postgres
import TestSupport
import Testing

@testable import Control

/// The command around the checks: what it needs, what it refuses, what it remembers.
@Suite(.timeLimit(.minutes(5))) struct AuditCommandTests {
    @Test(arguments: [
        ["--what"], ["--since"], ["--since", "yesterday"], ["--grace", "-1"], ["--grace", "soon"], ["--limit", "x"],
        ["--state"], ["--full", "--since", "0"],
    ])
    func `a wrong word is explained and ends with 2`(arguments: [String]) {
        var lines: [String] = []
        #expect(AuditCommand(output: { lines.append($0) }, environment: [:]).run(arguments: arguments) == 2)
        #expect(lines.first?.hasPrefix("purser audit: ") == true && lines.last == AuditOptions.usage)
    }

    @Test func `help needs no settings`() {
        var lines: [String] = []
        #expect(AuditCommand(output: { lines.append($0) }, environment: [:]).run(arguments: ["--help"]) == 0)
        #expect(lines == [AuditOptions.usage])
    }

    /// What keeps an audit from being carried out, and a word of the advice.
    struct Obstacle: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let conninfo: @Sendable (TestDatabase) -> String?
        let advice: String
    }

    static let obstacles = [
        Obstacle(testDescription: "no database", conninfo: { _ in nil }, advice: "PURSER_CONTROL_DATABASE must be set"),
        Obstacle(
            testDescription: "a database that is away", conninfo: { $0.conninfo(role: nil) + " port=1" },
            advice: "check PURSER_CONTROL_DATABASE"),
        Obstacle(testDescription: "no conninfo", conninfo: { _ in "canary" }, advice: "check PURSER_CONTROL_DATABASE"),
        Obstacle(
            testDescription: "a superuser", conninfo: { $0.conninfo(role: nil) },
            advice: "set PURSER_CONTROL_DATABASE to the conninfo of purser_auditor"),
        Obstacle(
            testDescription: "a service's role", conninfo: { $0.conninfo(role: "purser_granting") },
            advice: "the role purser_granting may change"),
        Obstacle(
            testDescription: "a database without schemas", conninfo: { "\($0.conninfo(role: nil)) dbname=template1" },
            advice: "run purser-<service> migrate"),
    ]

    @Test(arguments: obstacles) func `what cannot be carried out ends with 2 and says what to do`(obstacle: Obstacle)
        async throws
    {
        try await AuditHistory.copy { audited in
            var environment: [String: String] = [:]
            environment["PURSER_CONTROL_DATABASE"] = obstacle.conninfo(audited.database)
            for arguments in [[], ["--json"]] {
                var lines: [String] = []
                let command = AuditCommand(output: { lines.append($0) }, environment: environment)
                #expect(command.run(arguments: arguments) == 2)
                #expect(lines.joined().contains(obstacle.advice), "\(lines)")
                #expect(!lines.joined().contains("password") && !lines.joined().contains("canary"))
            }
        }
    }

    @Test func `a role that may not read all of it is told so`() async throws {
        try await AuditHistory.copy { audited in
            try audited.corrupt("REVOKE SELECT ON granting.debts FROM purser_auditor")
            let (code, lines) = audited.audit()
            #expect(code == 2 && lines.joined().contains("let purser_auditor read every schema"), "\(lines)")
        }
    }

    @Test func `the auditor reads every schema and can do nothing else (S47)`() async throws {
        try await AuditHistory.copy { audited in
            var auditor = try audited.database.open(role: "purser_auditor")
            let rights = try auditor.query(
                """
                SELECT n.nspname || '.' || c.relname AS what FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname NOT LIKE 'pg_%' AND n.nspname <> 'information_schema' AND (
                    c.relkind IN ('r', 'p', 'v', 'm') AND (has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
                        OR has_any_column_privilege(c.oid, 'INSERT, UPDATE, REFERENCES')
                        OR n.nspname NOT IN ('granting', 'verification', 'intake', 'reconciliation') AND has_table_privilege(c.oid, 'SELECT'))
                    OR c.relkind = 'S' AND has_sequence_privilege(c.oid, 'USAGE, SELECT, UPDATE'))
                UNION ALL
                SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
                WHERE n.nspname IN ('granting', 'verification', 'intake', 'reconciliation') AND has_function_privilege(p.oid, 'EXECUTE')
                UNION ALL
                SELECT 'create in ' || nspname FROM pg_namespace
                WHERE nspname IN ('granting', 'verification', 'intake', 'reconciliation') AND has_schema_privilege(oid, 'CREATE')
                UNION ALL
                SELECT 'attributes of ' || rolname FROM pg_roles WHERE rolname = current_user
                    AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls)
                UNION ALL
                SELECT 'member of ' || r.rolname FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid
                WHERE m.member = current_user::regrole
                """)
            #expect(try rights.map { try $0.text("what") } == [])
            for sql in [
                "UPDATE granting.accounts SET balance = 0", "DELETE FROM granting.facts",
                "INSERT INTO granting.unannounced (facts) VALUES ('{}')", "TRUNCATE verification.evidence",
                "CREATE TABLE granting.extra ()",
            ] {
                #expect(throws: PostgresError.self, "\(sql)") { _ = try auditor.query(sql) }
            }
        }
    }

    @Test func `printed findings are limited, counted ones are not`() async throws {
        try await AuditHistory.copy { audited in
            try audited.corrupt("UPDATE granting.ledger SET balance_after = balance_after + 7 WHERE id % 2 = 0")
            let all = try audited.report("--limit", "1000")
            let chain = try #require(all.outcomes.first { $0.name == "wallets.chain" })
            #expect(chain.total > 3 && chain.findings.count == Int(chain.total))
            for limit in [0, 2] {
                let some = try audited.report("--limit", String(limit))
                let limited = try #require(some.outcomes.first { $0.name == "wallets.chain" })
                #expect(limited.total == chain.total)
                #expect(limited.findings == Array(chain.findings.prefix(limit)))
                #expect(some.lines.contains("        and \(chain.total - Int64(limit)) more"))
            }
        }
    }

    // MARK: - What is new

    @Test func `what is new is looked at and what is old is not, but whole wallets are`() async throws {
        try await AuditHistory.copy { audited in
            try audited.corrupt(
                """
                UPDATE granting.ledger SET created_at = created_at - interval '1 day';
                UPDATE granting.grants SET granted_at = granted_at - interval '1 day';
                UPDATE granting.spends SET decided_at = decided_at - interval '1 day';
                UPDATE granting.transactions SET updated_at = updated_at - interval '1 day';
                UPDATE verification.evidence SET verified_at = verified_at - interval '1 day';
                UPDATE granting.accounts SET balance = balance + 1
                """)
            let now = try audited.report().snapshot
            let since = AuditState(watermark: now - 3_600_000, database: audited.database.name)
            #expect(try audited.report().outcomes.first?.total == 4)
            let nothing = try audited.report(since: since)
            #expect(nothing.total == 0 && nothing.outcomes.first?.examined == 0)
            try audited.spend(1, id: "new", by: AuditedDatabase.alice)
            let one = try audited.report(since: since)
            #expect(one.failed == ["wallets.chain", "wallets.ledger", "wallets.lots"])
            #expect(one.outcomes.first?.total == 2, "both accounts of the wallet that changed")
            let full = try audited.report("--full", since: since)
            #expect(full.outcomes.first?.total == 4)
            let other = try audited.report(since: AuditState(watermark: now, database: "another"))
            #expect(other.scope == .everything)
        }
    }

    @Test func `a clean audit leaves its place in the file, one with findings does not`() async throws {
        try await AuditHistory.copy { audited in
            let path = "/tmp/purser-audit-\(UInt64.random(in: 0 ... .max)).json"
            defer { try? FileManager.default.removeItem(atPath: path) }
            #expect(audited.audit("--state", path).code == 0)
            let first = try #require(AuditState.read(path))
            #expect(first.database == audited.database.name)
            let now = try audited.report().snapshot
            #expect((now - 660_000...now - 600_000).contains(first.watermark))
            let (code, lines) = audited.audit("--state", path)
            #expect(code == 0 && lines.first?.contains("what is new since") == true)
            let second = AuditState.read(path)
            try audited.corrupt("UPDATE granting.accounts SET revision = revision + 1")
            #expect(audited.audit("--state", path).code == 1)
            #expect(AuditState.read(path) == second)
            #expect(audited.audit("--state", "/nowhere/at/all").code == 1)
            try audited.corrupt("UPDATE granting.accounts SET revision = revision - 1")
            #expect(audited.audit("--state", "/nowhere/at/all").code == 2)
        }
    }
}
