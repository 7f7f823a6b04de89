import Messages
import Postgres
import TestSupport
import Testing

@testable import Control

/// `purser find`, `findings`, `regrant` and `replay`.
@Suite(.timeLimit(.minutes(3))) struct SupportCommandsTests {
    private static func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    @Test(arguments: [
        "", "--transaction", "--transaction 1 --order 2", "--user u", "--user u --app a --limit 0", "7",
        "--order IAP1 --order IAP2", "--transaction 1 --raw",
    ]) func `words of find that are no usage are refused`(text: String) {
        #expect(throws: WordProblem.self) { _ = try FindCommand.request(Self.words(text)) }
    }

    @Test(arguments: [
        "", "list 7", "list --state open", "list --limit 0", "show", "show x", "show -1", "accept 7",
        "redrive 7 --actor a",
        "accept 7 --actor a --reason", "drop 7", "show 7 8",
    ]) func `words of findings that are no usage are refused`(text: String) {
        #expect(throws: WordProblem.self) { _ = try FindingsCommand.request(Self.words(text)) }
    }

    @Test(arguments: [
        "", "1", "1 --actor a", "x --actor a --reason r", "1 2 --actor a --reason r", "1 --actor a --reason r --id 7",
        "1 --actor a --reason r --environment Xcode", "123456789012345678901 --actor a --reason r",
    ]) func `words of regrant that are no usage are refused`(text: String) {
        #expect(throws: WordProblem.self) { _ = try RegrantCommand.request(Self.words(text)) }
    }

    @Test(arguments: ["", "granting", "granting.queries", "granting.wallet.parked", "granting.wallet --limit 0"])
    func `words of replay that are no usage are refused`(text: String) {
        #expect(throws: WordProblem.self) { _ = try ReplayCommand.Options(Self.words(text)) }
    }

    @Test func `what is asked for is what the words say`() throws {
        let request = try RegrantCommand.request(
            Self.words("7 --user u --actor op --reason r --id 550E8400-E29B-41D4-A716-446655440000"))
        #expect(request.requestID == "550e8400-e29b-41d4-a716-446655440000" && request.environment == .production)
        #expect(request.userID == UserID("u") && request.transactionID == TransactionID("7"))
        #expect(
            try FindingsCommand.request(Self.words("redrive 7 --actor op --reason r"))
                == .redrive(7, actor: "op", reason: "r"))
        #expect(
            try FindingsCommand.request(["list"]) == .list(states: ["open", "redriven"], kind: nil, limit: 50))
        let options = try ReplayCommand.Options(Self.words("granting.wallet --dry-run --limit 7"))
        #expect(options.isDryRun && options.limit == 7 && options.id == nil)
    }

    @Test func `purchase, order and user are found with their story (A-124 A-125 A-126 A-128 A-129)`()
        async throws
    {
        try await AuditHistory.copy { audited in
            func find(_ text: String) throws -> (code: Int32, lines: [String]) {
                var lines: [String] = []
                let command = FindCommand(
                    output: { lines.append($0) },
                    environment: ["PURSER_CONTROL_DATABASE": audited.database.conninfo(role: "purser_auditor")])
                return (command.tell(try FindCommand.request(Self.words(text))), lines)
            }
            func has(_ found: (code: Int32, lines: [String]), _ parts: String...) -> Bool {
                found.code == 0 && parts.allSatisfy { part in found.lines.contains { $0.contains(part) } }
            }
            let purchase = try find("--transaction 7")
            #expect(
                has(
                    purchase, "Production/7 coins60 × 2", "user bob-canary", "100 % revoked",
                    "verified, handed in by bob-canary",
                    "granted to customer", "0 of 120 left", "IN 120 DANBING", "APPLE_REFUND"), "\(purchase.lines)")
            #expect(!purchase.lines.contains { $0.contains("bundleId") })
            let shown = try find("--transaction 7 --payload")
            #expect(has(shown, "what Apple signed:", #""bundleId":"#))
            let order = try find("--order A1")
            #expect(
                has(order, "A1 coins60, app cloudpc, user alice-canary", "delivered by Production/1"), "\(order.lines)")
            let user = try find("--user alice-canary --app cloudpc")
            #expect(has(user, "balances:", "DANBING", "Production/1", "ledger (UTC):"), "\(user.lines)")
            let held = try find("--transaction 8")
            #expect(has(held, "held, unknown_product"))
            let unclaimed = try find("--transaction 10")
            #expect(has(unclaimed, "user nobody", "waits for an owner"))
            for nothing in [
                "--transaction 999", "--order NO", "--user nobody --app cloudpc", "--user alice-canary --app x",
            ] {
                let found = try find(nothing)
                #expect(found.code == 1 && found.lines == ["nothing is known of it"], "\(nothing)")
            }
        }
    }

    @Test func `findings are listed and shown with what was done about them`() async throws {
        try await AuditHistory.copy { audited in
            try audited.database.execute(
                """
                INSERT INTO reconciliation.findings (kind, subject, severity, state, evidence, opened_at, seen_at, next_at,
                    attempts, ended_at)
                VALUES ('purchase_held', 'Production/8', 'warning', 'open', '{"outcome":"held"}', 1780000000000,
                    1780000060000, 1, 0, NULL),
                    ('messages_parked', 'granting.wallet.parked', 'critical', 'accepted', '{}', 1, 1, 1, 0, 2);
                INSERT INTO reconciliation.finding_events (finding, at, event, actor, reason)
                SELECT id, 1780000000000, 'opened', 'reconciliation', '' FROM reconciliation.findings WHERE state = 'open';
                """)
            func run(_ body: (FindingsCommand) -> Int32) -> (code: Int32, lines: [String]) {
                var lines: [String] = []
                let code = body(
                    FindingsCommand(
                        output: { lines.append($0) },
                        environment: ["PURSER_CONTROL_DATABASE": audited.database.conninfo(role: "purser_auditor")]))
                return (code, lines)
            }
            let waiting = run { $0.list(["open", "redriven"], nil, 50) }
            #expect(waiting.code == 0 && waiting.lines.count == 2, "\(waiting.lines)")
            #expect(waiting.lines.last?.contains("purchase_held  open") == true)
            #expect(waiting.lines.last?.hasSuffix("2026-05-28T20:26:40Z  Production/8") == true)
            let all = run { $0.list(["open", "accepted"], nil, 50) }
            #expect(all.lines.count == 3 && all.lines[1].contains("messages_parked"), "the newest first")
            #expect(run { $0.list(["open", "accepted"], "messages_parked", 50) }.lines.count == 2)
            let shown = run { $0.show(1) }
            #expect(shown.code == 0 && shown.lines.last == "2026-05-28T20:26:40Z  opened by reconciliation: ")
            #expect(shown.lines.contains { $0.contains(#"{"outcome": "held"}"#) })
            #expect(run { $0.show(99) }.code == 1)
            #expect(run { $0.show(2) }.lines.last == "reasons   purser replay granting.wallet --dry-run")
        }
    }
}
