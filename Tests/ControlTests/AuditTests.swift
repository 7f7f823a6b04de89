import JSON
import Messages
import Postgres
import TestSupport
import Testing

@testable import Control
@testable import Granting

/// A history made by the real handlers is clean, and whatever is spoiled of it by hand is found.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AuditTests {
    @Test func `an honest history of everything that can happen is clean (R28)`() async throws {
        try await AuditHistory.copy { audited in
            let (code, lines) = audited.audit("--full")
            #expect(code == 0, "\(lines.joined(separator: "\n"))")
            #expect(lines.last?.hasPrefix("clean: ") == true)
            let transactions = lines.first { $0.hasPrefix("transactions: ") } ?? ""
            #expect(transactions.hasPrefix("transactions: 10 granted, "), "\(transactions)")
            #expect(transactions.contains("1 held: unknown_product"), "\(transactions)")
        }
    }

    @Test(arguments: Corruption.all)
    func `what is spoiled by hand is found, by exactly the checks that say so (R28)`(corruption: Corruption)
        async throws
    {
        try await AuditHistory.copy { audited in
            try audited.corrupt(corruption.sql)
            // Without grace: what vanished was verified only just now.
            let grace = corruption.finds.contains { $0.hasSuffix(".seen") } ? "0" : "60"
            let report = try audited.report("--grace", grace)
            #expect(report.failed == corruption.finds && report.exitCode == 1)
            let found = report.lines.filter { !$0.hasPrefix("ok ") }
            #expect(found.contains { $0.contains(corruption.line) }, "\(found.joined(separator: "\n"))")
            let json = String(decoding: JSONWriter.write(report.json), as: UTF8.self)
            #expect(!report.lines.joined().contains("canary") && !json.contains("canary"), "a report names nobody")
            #expect(report.json["findings"]?.intValue == report.total && report.total > 0)
        }
    }

    @Test func `the command prints what it found and ends with 1, as lines and as one object`() async throws {
        try await AuditHistory.copy { audited in
            try audited.corrupt("UPDATE granting.accounts SET balance = balance + 1")
            let text = audited.audit("--full")
            #expect(text.code == 1 && text.lines.last?.hasPrefix("FOUND 8: ") == true)
            let json = audited.audit("--full", "--json")
            #expect(json.code == 1 && json.lines.count == 1)
            let object = try JSONReader.parseObject(Array(json.lines.joined().utf8))
            #expect(object["exitCode"]?.intValue == 1 && object["clean"]?.boolValue == false)
            let checks = try #require(object["checks"]?.arrayValue)
            #expect(checks.count == AuditCheck.all.count + AuditCheck.schemas.count + SightCheck.all.count)
            let example = checks.first?.objectValue?["examples"]?.arrayValue?.first?.objectValue
            #expect(example?["asset"]?.stringValue == "DANBING" && example?["customer"] != nil)
        }
    }

    @Test func `a reversal that would overflow the account waits, and is no finding`() async throws {
        try await AuditHistory.copy { audited in
            try audited.corrupt("UPDATE granting.transactions SET revoked_share = 0 WHERE transaction_id = '7'")
            #expect(try audited.report().failed == ["refunds.newest"])
            try audited.corrupt(
                """
                UPDATE granting.accounts SET balance = 9223372036854775807 - 119
                WHERE customer = (SELECT customer FROM granting.grants WHERE transaction_id = '7')
                """)
            #expect(try audited.report().failed == ["wallets.ledger", "wallets.lots"], "120 do not fit any more")
            try audited.corrupt("UPDATE granting.accounts SET balance = balance - 1 WHERE balance > 9e18")
            #expect(
                try audited.report().failed == ["refunds.newest", "wallets.ledger", "wallets.lots"], "120 just fit")
        }
    }

    @Test(arguments: AppleNotificationType.allCases)
    func `what a told notification must have done is what Granting does with one of its type`(
        type: AppleNotificationType
    ) {
        #expect(AuditCheck.withoutPurchase.contains(type) == (type.effect == .none))
        #expect(AuditCheck.delivering.contains(type) == (type.effect == .claims))
        #expect(AuditCheck.aboutRefunds.contains(type) == type.tellsOfRefund)
    }

    @Test func `there is a corruption for every check`() {
        let found = Set(Corruption.all.flatMap(\.finds))
        let names = AuditCheck.all.map(\.name) + SightCheck.all.map(\.name)
        let waiting = AuditCheck.schemas.map { AuditCheck.unannounced($0, grace: 1).name }
        #expect(found == Set(names + waiting))
        #expect(Set(names).count == names.count)
    }
}
