import AppStore
import AppStoreSimulation
import JSON
import Messages
import TestSupport
import Testing

@testable import Control

/// What an operator reads of Apple's notifications, as the role that may only read.
@Suite(.timeLimit(.minutes(5))) struct NotificationsCommandTests {
    /// 2026-11-01T00:00:00Z in ms; the history of the table below.
    private static let signed: Int64 = 1_793_491_200_000

    /// Three notifications about transaction 7, one of a subscription's, one of the Sandbox, a new kind, and two refusals.
    private static func written(_ name: String) async throws -> AuditedDatabase {
        let audited = try await AuditedDatabase.make("reading_\(name)")
        try await onThread {
            let seven = AuditedDatabase.statement("7")
            let period = AuditedDatabase.statement("9", "monthly", original: "8", type: "Auto-Renewable Subscription")
            let sandbox = AuditedDatabase.statement("7", environment: "Sandbox")
            // One by one: a batch is stored in the order of its keys.
            for notification in [
                try AuditedDatabase.notification("ONE_TIME_CHARGE", 1, seven, signed: signed),
                try AuditedDatabase.notification("REFUND", 2, seven),
                try AuditedDatabase.notification("DID_RENEW", 3, period),
                try AuditedDatabase.notification("ONE_TIME_CHARGE", 4, sandbox),
                try AuditedDatabase.notification("SOMETHING_NEW", 5),
            ] { try audited.notify(notification) }
            // The same one again, told again, and what nobody signed.
            try audited.notify(try AuditedDatabase.notification("REFUND", 2, seven))
            try audited.redrive("REFUND")
            try audited.receive(["no.jws.\u{1b}[2Jcanary"])
            try audited.receive(["a.b.c"])
        }
        return audited
    }

    /// Runs the command as `purser_auditor`.
    private static func run(_ audited: AuditedDatabase, _ words: String...) async -> (code: Int32, lines: [String]) {
        var lines: [String] = []
        let environment = ["PURSER_CONTROL_DATABASE": audited.database.conninfo(role: "purser_auditor")]
        let command = NotificationsCommand(output: { lines.append($0) }, environment: environment)
        return (await command.run(arguments: words), lines)
    }

    /// The UUIDs of a table, by their last digit.
    private static func numbers(_ lines: [String]) -> [Character?] {
        lines.dropFirst().dropLast().map { line in
            line.split(separator: " ").first { $0.hasPrefix("002e14d5-") }?.last
        }
    }

    @Test func `what Apple told is listed, the newest first, by app, environment, type, transaction and time`()
        async throws
    {
        let audited = try await Self.written("list")
        let questions: [([String], String)] = [
            ([], "54321"), (["--environment", "Sandbox"], "4"), (["--type", "refund", "--type", "TEST"], "2"),
            (["--transaction", "7"], "421"), (["--transaction", "8"], "3"), (["--transaction", "70"], ""),
            (["--transaction", "7", "--environment", "Production", "--type", "REFUND"], "2"),
            (["--app", "cloudpc"], "54321"), (["--app", "other"], ""), (["--since", "1970-01-01T00:00:00Z"], "54321"),
            (["--until", "1970-01-01T00:00:00Z"], ""), (["--since", "1970-01-01T00:00:01Z"], ""),
            (["--limit", "2"], "54"), (["--limit", "2", "--before", "4"], "32"),
            (["--limit", "2", "--before", "2"], "1"),
        ]
        for (words, expected) in questions {
            let command = ["list"] + words
            var lines: [String] = []
            let environment = ["PURSER_CONTROL_DATABASE": audited.database.conninfo(role: "purser_auditor")]
            let code = await NotificationsCommand(output: { lines.append($0) }, environment: environment)
                .run(arguments: command)
            #expect(code == 0 && Self.numbers(lines) == expected.map { $0 }, "\(words): \(lines)")
        }
        let page = await Self.run(audited, "list", "--limit", "2").lines
        #expect(page.last == "2 notifications; the next page: --before 4")
        let last = await Self.run(audited, "list", "--limit", "5").lines
        #expect(last.last == "5 notifications", "exactly a page is the last one")
        #expect(
            last.first?.split(separator: " ").map(String.init) == [
                "RECEIVED", "APP", "ENVIRONMENT", "TYPE", "TRANSACTION", "UUID", "TIMES", "AGAIN",
            ])
        let refund = last.first { $0.contains("REFUND") }?.split(separator: " ").map(String.init)
        #expect(refund?.dropFirst(2) == ["Production", "REFUND", "7", AuditedDatabase.uuid(2), "2", "1"])
    }

    @Test func `as JSON a page is one object that names where the next one begins`() async throws {
        let audited = try await Self.written("json")
        let (code, lines) = await Self.run(audited, "list", "--json", "--limit", "1", "--type", "ONE_TIME_CHARGE")
        let object = try JSONReader.parseObject(Array(lines.joined().utf8))
        let first = try #require(object["notifications"]?.arrayValue?.first?.objectValue)
        #expect(code == 0 && lines.count == 1 && object["next"]?.intValue == 4)
        #expect(first["uuid"]?.stringValue == AuditedDatabase.uuid(4) && first["environment"] == "Sandbox")
        #expect(first["transactionId"] == "7" && first["isKnown"] == true && first["subtype"] == .null)
        let next = await Self.run(
            audited, "list", "--json", "--limit", "1", "--type", "ONE_TIME_CHARGE", "--before", "4")
        let end = try JSONReader.parseObject(Array(next.lines.joined().utf8))
        #expect(end["next"] == .null)
        let signed = end["notifications"]?.arrayValue?.first?.objectValue?["signedDate"]?.intValue
        #expect(signed == Self.signed)
    }

    @Test func `what was refused is listed by itself, and never as what it claimed to be`() async throws {
        let audited = try await Self.written("refused")
        let (code, lines) = await Self.run(audited, "list", "--state", "quarantined", "--limit", "1")
        #expect(code == 0 && lines.count == 3 && lines.last?.hasPrefix("1 refusals; the next page: --before ") == true)
        let json = await Self.run(audited, "list", "--state", "quarantined", "--json")
        let refusals = try JSONReader.parseObject(Array(json.lines.joined().utf8))["refusals"]?.arrayValue ?? []
        #expect(refusals.count == 2 && !json.lines.joined().contains("canary"))
        let message = try #require(refusals.last?.objectValue?["message"]?.stringValue)
        let shown = await Self.run(audited, "show", message)
        #expect(shown.code == 0 && shown.lines.first == "refusal \(message)")
        #expect(!shown.lines.joined().contains("canary"))
        let raw = await Self.run(audited, "show", message, "--raw")
        #expect(raw.lines.last == "  raw: no.jws.?[2Jcanary", "nothing of it moves the cursor")
        for words in [["--type", "REFUND"], ["--environment", "Sandbox"], ["--transaction", "7"]] {
            var printed: [String] = []
            let command = NotificationsCommand(output: { printed.append($0) }, environment: [:])
            #expect(await command.run(arguments: ["list", "--state", "quarantined"] + words) == 2)
            #expect(printed.first?.contains("that is believed") == true)
        }
    }

    @Test func `one is shown with what was told of it, when, and who asked for more; its payload only if asked for`()
        async throws
    {
        let audited = try await Self.written("show")
        let uuid = AuditedDatabase.uuid(2)
        let (code, lines) = await Self.run(audited, "show", uuid.uppercased())
        #expect(code == 0 && lines.first == "notification \(uuid)")
        #expect(lines.contains("  timesReceived: 2") && lines.contains("  type: REFUND"))
        let told = lines.filter { $0.hasPrefix("  told ") }
        #expect(told.count == 2 && told.allSatisfy { $0.contains(" as notification.refund") })
        #expect(told.last?.contains("again, asked for by op: fact ") == true)
        #expect(!lines.joined().contains(AuditedDatabase.bundleID), "no payload")
        try await onThread {
            try audited.corrupt(
                "INSERT INTO intake.unannounced (facts) SELECT ARRAY[id] FROM intake.facts WHERE revision = 1")
        }
        let full = await Self.run(audited, "show", uuid, "--payload", "--raw", "--json")
        let object = try JSONReader.parseObject(Array(full.lines.joined().utf8))
        let one = try #require(object["notifications"]?.arrayValue?.first?.objectValue)
        let published = one["told"]?.arrayValue?.map { $0.objectValue?["isPublished"]?.boolValue }
        #expect(published == [true, false])
        let payload = try #require(one["payload"]?.objectValue)
        #expect(payload["signedTransactionInfo"]?.objectValue?["transactionId"] == "7")
        let data = payload["notification"]?.objectValue?["data"]?.objectValue
        #expect(data?["bundleId"] == .string(AuditedDatabase.bundleID) && data?["signedTransactionInfo"] == nil)
        let raw = try #require(one["raw"]?.stringValue)
        var verifier = try AuditedDatabase.verifier(try AuditedDatabase.authority.get())
        let verified = try verifier.verifyNotification(Array(raw.utf8), now: Self.signed + 60 * 86_400_000)
        #expect("\(verified.notification.payload.notificationUUID)" == uuid, "the exact text that Apple signed")
    }

    @Test func `what is not there, and a database that cannot be read, end with 1 and say why`() async throws {
        let audited = try await Self.written("absent")
        let nothing = await Self.run(audited, "show", AuditedDatabase.uuid(77))
        #expect(nothing.code == 1 && nothing.lines.first?.hasSuffix("neither stored nor in quarantine") == true)
        let elsewhere = await Self.run(audited, "show", AuditedDatabase.uuid(2), "--environment", "Sandbox")
        #expect(elsewhere.code == 1)
        try await onThread { try audited.corrupt("REVOKE SELECT ON intake.notifications FROM purser_auditor") }
        let refused = await Self.run(audited, "list")
        #expect(refused.code == 1 && refused.lines.last?.contains("let purser_auditor read") == true)
    }

    private static let wrong: [[String]] = [
        ["list", "--what"], ["list", "--type"], ["list", "--state", "lost"], ["list", "--environment", "Xcode"],
        ["list", "--since", "yesterday"], ["list", "--limit", "0"], ["list", "--limit", "1001"],
        ["list", "--before", "x"],
        ["show"], ["show", "nonsense"], ["show", AuditedDatabase.uuid(1), AuditedDatabase.uuid(2)], ["show", "--raw"],
        ["show", AuditedDatabase.uuid(1), "--environment", "Xcode"], [], ["tell"],
    ]

    @Test(arguments: wrong) func `a wrong word is explained and ends with 2`(words: [String]) async {
        var lines: [String] = []
        let code = await NotificationsCommand(output: { lines.append($0) }, environment: [:]).run(arguments: words)
        #expect(code == 2 && lines.last?.contains("usage: purser notifications") == true, "\(lines)")
    }
}
