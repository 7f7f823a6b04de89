import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import Verification

/// What is refused is kept by message, bounded, and never in the way.
@Suite(.timeLimit(.minutes(5))) struct QuarantineTests {
    @Test func `a refusal is kept once a message, however often it is delivered`() async throws {
        try await VerificationDatabase.with("quarantine") { verification in
            var session = try verification.open()
            let id = MessageID(UUIDText.random())
            let forged = try submission("not.a.jws", by: "mallory", id: id)
            _ = try session.run([forged, forged])
            let again = try session.run([forged])
            #expect(try again.first?.answer?.reason == "format", "the verdict is computed anew")
            // The same text in another message is another refusal.
            _ = try session.run([try submission("not.a.jws", by: "mallory")])
            let rows = try verification.rows("SELECT * FROM verification.quarantine ORDER BY sequence")
            #expect(rows.count == 2)
            let row = try #require(rows.first)
            #expect(try row.uuid("message") == UUIDText.parse(id.rawValue))
            #expect(try row.text("submitter") == "mallory" && row.text("reason") == "format")
            #expect(try row.text("excerpt") == "not.a.jws" && row.text("app") == "game")
        }
    }

    @Test func `the oldest refusals make room for new ones`() async throws {
        try await VerificationDatabase.with("capped") { verification in
            var session = try verification.open(quarantineLimit: 5)
            for number in 1...8 { _ = try session.run([try submission("\(number)")]) }
            let kept = try verification.rows("SELECT excerpt FROM verification.quarantine ORDER BY sequence")
            #expect(try kept.map { try $0.text("excerpt") } == ["4", "5", "6", "7", "8"])
            // A batch larger than the limit leaves no more either.
            _ = try session.run(try (10..<30).map { try submission("\($0)") })
            #expect(try verification.count("quarantine") == 5)
        }
    }

    @Test func `however long a refused text is, little of it is kept`() async throws {
        try await VerificationDatabase.with("long") { verification in
            var session = try verification.open()
            let text = String(repeating: "🂡", count: 60_000)
            let outcomes = try session.run([try submission(text), try submission("x" + text)])
            #expect(try outcomes.allSatisfy { try $0.answer?.reason == "too_large" })
            let longest = try verification.rows(
                "SELECT max(octet_length(excerpt))::bigint AS longest FROM verification.quarantine")
            #expect(try longest.first?.int8("longest") ?? 0 <= 4_106)
        }
    }

    private static let forbidden = [
        "UPDATE verification.evidence SET submitter = 'mallory'", "DELETE FROM verification.evidence",
        "TRUNCATE verification.evidence", "UPDATE verification.headers SET segment = ''",
        "DELETE FROM verification.headers", "UPDATE verification.facts SET body = '{}'",
        "DELETE FROM verification.facts", "UPDATE verification.quarantine SET reason = ''",
        "ALTER TABLE verification.evidence DROP COLUMN submitter", "CREATE TABLE verification.mine ()",
        "UPDATE verification.schema_migrations SET version = 9",
    ]

    @Test func `the service can add to its evidence, never change or remove it`() async throws {
        try await VerificationDatabase.with("rights") { verification in
            var session = try verification.open()
            _ = try session.run([try submission(World().sign()), try submission("forged")])
            for statement in Self.forbidden {
                let error = #expect(throws: PostgresError.self) { _ = try session.connection.query(statement) }
                #expect(error?.sqlState == "42501", "\(statement): \(String(describing: error))")
            }
            #expect(try verification.count("evidence") == 1)
            try verification.database.createRole("purser_granting")
            var others = try verification.database.open(role: "purser_granting")
            let foreign = #expect(throws: PostgresError.self) {
                _ = try others.query("SELECT FROM verification.evidence")
            }
            #expect(foreign?.sqlState == "42501", "another service sees nothing")
            var auditor = try verification.database.open(role: "purser_auditor")
            #expect(try auditor.query("SELECT FROM verification.evidence").count == 1)
            let change = #expect(throws: PostgresError.self) {
                _ = try auditor.query("DELETE FROM verification.quarantine")
            }
            #expect(change?.sqlState == "42501")
        }
    }
}
