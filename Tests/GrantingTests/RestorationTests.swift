import AMQP
import Messages
import Observability
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import Granting

/// After a database was restored to an older backup: what the stream told since comes back, exactly.
@Suite struct RestorationTests {
    /// What must be the same afterwards: everything but times and numbers of rows.
    static let tables = [
        "SELECT customer, asset, balance, revision, spent FROM granting.accounts",
        "SELECT customer, asset, direction, amount, balance_after, source_type, source_id, environment, remark, cause FROM granting.ledger",
        """
        SELECT environment, transaction_id, app, customer, product_id, product_version, quantity, kind,
            original_transaction_id, web_order_line_item_id, order_number, cause, revision, applied_share, starter_units
        FROM granting.grants
        """,
        "SELECT customer, asset, environment, transaction_id, amount, remaining, is_frozen FROM granting.lots",
        "SELECT customer, revision, is_given, terms_version, requested_at, cause FROM granting.consents",
        "SELECT environment, transaction_id, asset, customer, amount, settled FROM granting.debts",
        "SELECT customer, source_id, app, asset, amount, outcome, code, balance_after, cause FROM granting.spends",
        """
        SELECT order_number, app, customer, product_id, token, delivered_environment, delivered_transaction, sibling_of,
            cause
        FROM granting.orders
        """,
        "SELECT app, token, customer, order_number FROM granting.tokens",
        "SELECT environment, transaction_id, kind, revision, customer, cause FROM granting.risk_flags",
        "SELECT id, cause, key, revision, type, version, app, environment, correlation_id, occurred_at, body FROM granting.facts",
        "SELECT app, version, actor, cause FROM granting.catalog_versions",
        "SELECT app, product_id, version, code, product_type, is_enabled, sort FROM granting.product_versions",
        "SELECT app, product_id, version, asset, amount FROM granting.product_amounts",
        """
        SELECT environment, transaction_id, app, owner, order_number, is_claimed_by_caller, delivered_by, held_reason
        FROM granting.transactions
        """,
        """
        SELECT environment, transaction_id, submitter, submitted_order, signed_date, revoked_share, payload_hash,
            app_account_token
        FROM granting.transactions WHERE delivered_by IS NULL
        """,
    ]

    /// How much of a history the backup has: nothing but the schema, nothing but the catalogue, a third, two thirds.
    enum Backup: Int, CaseIterable, Sendable {
        case empty, catalogue, third, most
    }

    @Test(arguments: Backup.allCases, [11, 12, 13, 14])
    func `whatever a backup lacks comes back from the facts, every row of the books as it was (R24)`(
        backup: Backup, seed: Int
    ) async throws {
        let name = "restore_\(backup)_\(seed)"
        try await GrantingDatabase.with(name, nil) { granting in
            var copy = try backup == .empty ? granting.database.copy() : nil
            try Self.importCatalog(on: granting)
            if backup == .catalogue { copy = try granting.database.copy() }
            let steps = RandomHistory(seed: UInt64(seed), length: 240).steps
            for part in 0..<3 {
                _ = try StoredHistoryTests.replay(Array(steps[part * 80..<(part + 1) * 80]), seed, on: granting)
                if part + 2 == backup.rawValue { copy = try granting.database.copy() }
            }
            let restored = GrantingDatabase(database: try #require(copy))
            defer { try? restored.database.drop() }
            let facts = try Self.facts(of: granting)
            let report = try Self.restore(facts, on: restored, inPartsOf: 37)
            #expect(report.exitCode == 0, "\(report.lines.joined(separator: "\n"))")
            #expect(report.missing > 0 && report.applied.values.reduce(0, +) == report.missing)
            for table in Self.tables {
                #expect(try Self.rows(table, restored) == Self.rows(table, granting), "\(table)")
            }
            #expect(try restored.imbalances() == [])
            let again = try Self.restore(facts, on: restored, inPartsOf: 500)
            #expect(again.exitCode == 0 && again.missing == 0, "\(again.lines)")
            try Self.expectUsersBack(granting, restored)
        }
    }

    @Test func `facts told the other way round than they were decided are put in order (R24)`() async throws {
        try await GrantingDatabase.with("restore_order") { granting in
            let copy = GrantingDatabase(database: try granting.database.copy())
            defer { try? copy.database.drop() }
            _ = try StoredHistoryTests.replay(RandomHistory(seed: 21, length: 160).steps, 21, on: granting)
            let report = try Self.restore(Self.disordered(try Self.facts(of: granting)), on: copy, inPartsOf: 500)
            #expect(report.exitCode == 0, "\(report.lines.joined(separator: "\n"))")
            #expect(try Self.rows(Self.tables[0], copy) == Self.rows(Self.tables[0], granting))
        }
    }

    @Test func `a fact whose predecessor is missing is left and told, and applied once that is there (R24)`()
        async throws
    {
        try await GrantingDatabase.with("restore_gap") { granting in
            let copy = GrantingDatabase(database: try granting.database.copy())
            defer { try? copy.database.drop() }
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [verified(transaction("1"), by: "alice")])
            _ = try session.run(DecideWallet(), [spending(20, id: "s1", by: "alice")])
            let facts = try Self.facts(of: granting)
            let spend = facts.filter { $0.header.type == .spendDecided }
            let early = try Self.restore(spend, on: copy, inPartsOf: 10)
            #expect(early.exitCode == 1 && early.applied.isEmpty && early.left.count == 1)
            #expect(early.lines.contains { $0.contains("it left 40, and there are 0 before it") }, "\(early.lines)")
            #expect(try copy.rows("SELECT FROM granting.facts WHERE type = 'spend.decided'").isEmpty)
            let whole = try Self.restore(facts, on: copy, inPartsOf: 10)
            #expect(whole.exitCode == 0, "\(whole.lines)")
            #expect(try Self.rows(Self.tables[1], copy) == Self.rows(Self.tables[1], granting))
        }
    }

    @Test func `who was erased stays erased, and nobody gets what was theirs (R24)`() async throws {
        try await GrantingDatabase.with("restore_erased") { granting in
            let copy = GrantingDatabase(database: try granting.database.copy())
            defer { try? copy.database.drop() }
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [verified(transaction("1"), by: "alice")])
            let erasure = UserEraseRequested(
                app: Shop.app, userID: UserID("alice"), formerIDs: [], actor: "op", reason: "asked")
            _ = try session.run(RunCommands(), [message(erasure)])
            let report = try Self.restore(try Self.facts(of: granting), on: copy, inPartsOf: 10)
            #expect(report.exitCode == 0, "\(report.lines)")
            #expect(try copy.rows("SELECT FROM granting.restored_customers").isEmpty)
            var restored = try copy.open()
            _ = try restored.run(GrantPurchases(), [verified(transaction("2"), by: "alice")])
            let owners = try copy.rows("SELECT DISTINCT customer::text AS c FROM granting.grants")
            #expect(owners.count == 2, "the later login is somebody new")
        }
    }

    @Test func `while a lane runs it is refused, and while it runs no decision is made (R24)`() async throws {
        try await GrantingDatabase.with("restore_refused") { granting in
            let login = Secret(granting.database.conninfo(role: "purser_granting"))
            do {
                var lane = try Connection.open(login, applicationName: "purser-granting granting.wallet")
                #expect(throws: Restoration.Refused.self) { _ = try Restoration.begin(login) }
                lane.close()
            }
            try eventually("the session is gone") { Self.canBegin(login) }
            let restoration = try Restoration.begin(login)
            let impatient = try granting.database.open(
                role: "purser_granting", parameters: ["lock_timeout": "200ms"])
            var session = Session(connection: impatient)
            #expect(throws: PostgresError.self) {
                _ = try session.run(GrantPurchases(), [verified(transaction("1"), by: "alice")])
            }
            _ = consume restoration
        }
    }

    // MARK: - Doing it

    /// As two lanes may tell them: orders and spends before purchases that were decided first.
    private static func disordered(_ facts: [StreamedFact]) -> [StreamedFact] {
        let early: Set<MessageType> = [.orderCreated, .spendDecided, .tokenIssued]
        return stride(from: 0, to: facts.count, by: 30).flatMap { start in
            let window = facts[start..<min(start + 30, facts.count)]
            return window.filter { early.contains($0.header.type) } + window.filter { !early.contains($0.header.type) }
        }
    }

    private static func canBegin(_ login: Secret) -> Bool {
        do {
            _ = try Restoration.begin(login)
            return true
        } catch {
            return false
        }
    }

    static func importCatalog(on granting: GrantingDatabase) throws {
        var session = try granting.open()
        _ = try session.run(RunCommands(), [granting.importing(Shop.definition(), version: 0)])
    }

    /// The facts that go to the stream, as they come out of it.
    static func facts(of granting: GrantingDatabase) throws -> [StreamedFact] {
        let types = Topology.streamedFacts.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return try granting.rows(
            """
            SELECT id, cause, type, version, app, environment, correlation_id, occurred_at, body FROM granting.facts
            WHERE type IN (\(types)) ORDER BY sequence
            """
        ).map { row in
            let header = MessageHeader(
                id: try row.id("id"), type: MessageType(rawValue: try row.text("type")), version: 1,
                occurredAt: try row.int8("occurred_at"), correlationID: try row.text("correlation_id"),
                causationID: try row.id("cause"), app: try row.optionalName("app"),
                environment: try row.optionalText("environment").flatMap { StoreEnvironment(rawValue: $0) })
            let incoming = Incoming(header: header, body: Array(try row.text("body").utf8), isRedelivered: false)
            return try #require(StreamedFact(incoming), "\(header.type.rawValue) is not what its id says")
        }
    }

    static func restore(
        _ facts: [StreamedFact], on granting: GrantingDatabase, inPartsOf size: Int
    ) throws -> RestoreReport {
        let login = Secret(granting.database.conninfo(role: "purser_granting"))
        var restoration = try Restoration.begin(login, batchLimit: size)
        for start in stride(from: 0, to: facts.count, by: size) {
            try restoration.take(Array(facts[start..<min(start + size, facts.count)]), unreadable: 0)
        }
        try restoration.finish()
        return restoration.report
    }

    static func rows(_ table: String, _ granting: GrantingDatabase) throws -> [String] {
        try granting.rows("SELECT row_to_json(t)::text AS line FROM (\(table)) AS t").map { try $0.text("line") }
            .sorted()
    }

    /// Users find the customers they were.
    private static func expectUsersBack(_ granting: GrantingDatabase, _ restored: GrantingDatabase) throws {
        let users = try granting.rows("SELECT user_id FROM granting.customers ORDER BY 1").map {
            try $0.text("user_id")
        }
        var session = try restored.open()
        for user in users {
            let token = TokenRequested(app: Shop.app, userID: UserID(user), appAccountToken: UUIDText.random())
            _ = try session.run(DecideWallet(), [message(token)])
        }
        let names = "SELECT customer, user_id FROM granting.customers"
        #expect(try rows(names, restored) == rows(names, granting))
        #expect(try restored.rows("SELECT FROM granting.restored_customers").isEmpty)
    }
}
