import Messages
import Postgres
import TestSupport
import Testing

@testable import Control

/// `purser report`: a day on a page.
@Suite(.timeLimit(.minutes(3))) struct ReportCommandTests {
    private static func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    @Test(arguments: [
        "", "--date", "--date 2026-13-01", "--date 2026-1-1", "--date 30.11.2026",
        "--live --date 2026-11-30 --offset 8", "--live --date 2026-11-30 --offset +15:00",
        "--live --date 2026-11-30 --offset *08:00", "--date 2026-11-30 --offset +08:00",
        "--date 2026-11-30 --format pdf", "--live --date 2026-11-30 --format html", "2026-11-30", "--date 2026-11-30 x",
    ]) func `words that are no usage are refused`(text: String) {
        #expect(throws: WordProblem.self) { _ = try ReportOptions(Self.words(text)) }
    }

    @Test func `a day begins where its clock says`() throws {
        let utc = try ReportOptions(Self.words("--date 2026-05-28"))
        #expect(utc.from == 1_779_926_400_000 && utc.to == utc.from + 86_400_000 && !utc.listsPurchases)
        let beijing = try ReportOptions(Self.words("--live --date 2026-05-28 --offset +08:00 --purchases --app a"))
        #expect(beijing.from == utc.from - 28_800_000 && beijing.listsPurchases && beijing.app == "a")
        let denver = try ReportOptions(Self.words("--live --date 2026-05-28 --offset -06:30"))
        #expect(denver.from == utc.from + 23_400_000)
    }

    /// What Granting has told of the history so far comes into the journal, all within 2026-05-28.
    private static let journal = """
        SELECT reconciliation.make_month(1780000000000);
        INSERT INTO reconciliation.journal (id, occurred_at, type, version, app, environment, transaction_id, customer,
            correlation_id, stream_offset, body)
        SELECT id, 1780000000000, type, version, app, environment, body::jsonb ->> 'transactionID',
            body::jsonb ->> 'customer', correlation_id, sequence, body FROM granting.facts
        WHERE type IN ('purchase.granted', 'purchase.held', 'purchase.clawedback', 'spend.decided', 'debt.repaid',
            'sandbox.swept');
        INSERT INTO reconciliation.findings (kind, subject, severity, state, app, environment, transaction_id, evidence,
            opened_at, seen_at, next_at, ended_at)
        VALUES ('purchase_held', 'Production/8', 'warning', 'open', 'cloudpc', 'Production', '8', '{}', 1780000000000, 1,
            1, NULL), ('messages_parked', 'a|b', 'critical', 'resolved', NULL, NULL, NULL, '{}', 1780000000000, 1, 1,
            1780000001000);
        """

    @Test func `a day's page agrees with the books, and another day's is empty (A-121 A-122 A-123 C-103 C-104)`()
        async throws
    {
        try await AuditHistory.copy { audited in
            try audited.database.execute(Self.journal)
            func report(_ text: String) -> [String] {
                var lines: [String] = []
                let command = ReportCommand(
                    output: { lines.append($0) },
                    environment: ["PURSER_CONTROL_DATABASE": audited.database.conninfo(role: "purser_auditor")])
                #expect(command.run(arguments: Self.words(text)) == 0, "\(lines)")
                return lines
            }
            let page = report("--live --date 2026-05-28 --purchases")
            #expect(page.first == "# Purser, 2026-05-28 (UTC+00:00)")
            // What was granted less what was taken back, spent, repaid and swept is what the wallets hold.
            var connection = try audited.database.open()
            let held = try connection.query(
                "SELECT sum(balance)::bigint AS n FROM granting.accounts WHERE asset = 'DANBING'"
            ).single().int8("n")
            let assets = try #require(page.first { $0.hasPrefix("| cloudpc | DANBING | ") })
            let numbers = assets.split(separator: "|").compactMap {
                Int64(String($0.drop { $0 == " " }.prefix { $0 != " " }))
            }
            let rest = numbers.count == 6 ? numbers[0] - numbers[1] - numbers[3] - numbers[4] - numbers[5] : -1
            #expect(rest == held, "\(assets), \(held)")
            #expect(page.contains { $0.hasPrefix("| Production/8 | ") && $0.contains("held: unknown_product") })
            #expect(page.contains { $0.hasPrefix("| Production/7 | ") && $0.hasSuffix("| granted | 100 % |") })
            #expect(page.contains { $0.hasPrefix("| refunded, of what was delivered in 30 days | cloudpc |") })
            #expect(page.contains("| purchase_held | warning | 1 | 0 | 0 | 1 |"))
            #expect(page.contains("| messages_parked | critical | 1 | 1 | 0 | 0 |"))
            #expect(!page.joined().contains("canary"), "no user is named")
            let other = report("--live --date 2026-05-27")
            #expect(other.contains("None.") && !other.joined().contains("DANBING"))
            #expect(!report("--live --date 2026-05-28 --app other").joined().contains("DANBING"))
        }
    }

    @Test func `refunds that Apple told more than a day late are listed (C-093)`() async throws {
        try await AuditHistory.copy { audited in
            var lines: [String] = []
            let command = ReportCommand(
                output: { lines.append($0) },
                environment: ["PURSER_CONTROL_DATABASE": audited.database.conninfo(role: "purser_auditor")])
            var connection = try audited.database.open()
            // One that was told two days late.
            _ = try connection.query(
                """
                INSERT INTO granting.refund_statements (environment, transaction_id, signed_date, payload_hash,
                    revoked_share, revocation_date, cause, processed_at)
                SELECT environment, transaction_id, signed_date + 1, 'late', revoked_share, revocation_date, cause,
                    to_timestamp(revocation_date / 1000.0) + interval '2 days'
                FROM granting.refund_statements WHERE revocation_date IS NOT NULL ORDER BY processed_at DESC LIMIT 1
                """)
            let row = try connection.query(
                """
                SELECT to_char(max(processed_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
                    count(*) FILTER (WHERE processed_at > to_timestamp(revocation_date / 1000.0) + interval '1 day')
                        AS late
                FROM granting.refund_statements WHERE revocation_date IS NOT NULL
                """
            ).single()
            #expect(command.run(arguments: ["--live", "--date", try row.text("day")]) == 0)
            let late = try row.int8("late")
            let listed = lines.filter { $0.hasPrefix("| Production/") || $0.hasPrefix("| Sandbox/") }
            #expect(late > 0 && Int64(listed.count) == late, "\(listed)")
        }
    }
}
