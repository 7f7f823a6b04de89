import AppStore
import AppStoreSimulation
import Crypto
import Messages
import Observability
import Postgres
import Service
import TestSupport
import Trust

@testable import Control
@testable import Granting
@testable import NotificationIntake
@testable import Pipeline
@testable import Reconciliation
@testable import Verification

/// A database with all schemas, written by the real handlers as their roles: statements are signed, verified, passed on
/// under their fact's id, and decided.
struct AuditedDatabase: Sendable {
    static let app = AppID("cloudpc")
    static let bundleID = "com.example.cloudpc"
    static let coins = AssetID("DANBING")
    static let minutes = AssetID("TIME_MINUTES")
    /// Users whose names must never stand in a report.
    static let alice = UserID("alice-canary")
    static let bob = UserID("bob-canary")
    static let carol = UserID("carol-canary")
    static let authority = Result { try SimulatedAuthority.generate(withReceipts: true) }

    let database: TestDatabase

    /// An empty one with a catalogue.
    static func make(_ name: String) async throws -> AuditedDatabase {
        let audited = AuditedDatabase(database: try await TestDatabase.shared("audit_\(name)"))
        try await onThread {
            try audited.database.migrate("verification", VerificationProgram.migrations)
            try audited.database.migrate("intake", IntakeProgram.migrations)
            try audited.database.migrate("granting", GrantingSchema.migrations)
            try audited.database.migrate("reconciliation", ReconciliationProgram.migrations)
            _ = try audited.decide(
                [
                    incoming(
                        CatalogImportRequested(
                            app: app, actor: "op", expectedVersion: 0,
                            definition: CatalogDefinition(
                                assets: [
                                    CatalogAsset(
                                        asset: coins, jsonName: "danbing", insufficientCode: .balanceNotEnough),
                                    CatalogAsset(asset: minutes, jsonName: "time", insufficientCode: .timeNotEnough),
                                ], products: products,
                                policies: CatalogPolicies(
                                    sandboxAudience: .listed, reviewers: [], testers: [alice],
                                    requiresAppAccountToken: false, orderExpiryHours: 24))))
                ], by: RunCommands())
        }
        return audited
    }

    private static let card: CatalogProduct = {
        var card = product("card", [])
        card.entitlement = "card"
        return card
    }()

    private static let products = [
        product("coins60", [(coins, 60)]), product("bundle", [(coins, 100), (minutes, 30)]),
        product("forever", [(coins, 500)], type: "Non-Consumable"), card,
        product("monthly", [(coins, 10)], type: "Auto-Renewable Subscription"),
    ]

    private static func product(
        _ id: String, _ amounts: [(AssetID, Int64)], type: String = "Consumable"
    ) -> CatalogProduct {
        CatalogProduct(
            code: id.uppercased(), productID: ProductID(id), productType: type,
            amounts: amounts.map { AssetAmount(asset: $0.0, amount: $0.1) }, isEnabled: true, sort: 1)
    }

    // MARK: - What happens

    /// Verifies statements of Apple and gives what Verification says about them.
    func verify(_ statements: [SimulatedTransaction], by user: UserID?, order: String? = nil) throws -> [Incoming] {
        let authority = try Self.authority.get()
        let signer = TransactionSigner(authority)
        let handler = VerifyPurchases(
            verifier: try Self.verifier(authority),
            receipts: try Self.receiptVerifier(authority), metrics: Metrics(), logger: .silent,
            revocation: .off)
        let batch = try statements.map { statement in
            try Self.incoming(
                PurchaseSubmitted(
                    app: Self.app, userID: user, orderNumber: order.map { OrderNumber($0) },
                    signedTransaction: String(decoding: try signer.sign(statement), as: UTF8.self)))
        }
        return Self.passedOn(try run(handler, batch, "verification"))
    }

    /// Facts as the messages that the next service takes.
    static func passedOn(_ facts: [Fact]) -> [Incoming] {
        facts.map { fact in
            let header = MessageHeader(
                id: fact.id, type: fact.type, version: fact.version, occurredAt: fact.occurredAt,
                correlationID: fact.correlationID)
            return Incoming(header: header, body: fact.body, isRedelivered: false)
        }
    }

    /// Verified and decided.
    func purchase(_ statements: [SimulatedTransaction], by user: UserID?, order: String? = nil) throws {
        _ = try decide(try verify(statements, by: user, order: order), by: GrantPurchases())
    }

    func order(_ number: String, _ product: String, token: String, by user: UserID) throws {
        _ = try decide(
            [
                Self.incoming(
                    OrderRequested(
                        app: Self.app, userID: user, productID: ProductID(product), orderNumber: OrderNumber(number),
                        appAccountToken: token))
            ], by: DecideWallet())
    }

    func spend(_ amount: Int64, id: String, by user: UserID) throws {
        _ = try decide(
            [
                Self.incoming(
                    SpendRequested(
                        app: Self.app, userID: user, asset: Self.coins, amount: amount, sourceID: id, deadline: .max))
            ], by: DecideWallet())
    }

    /// Sweeps the sandbox.
    func sweep() throws {
        _ = try decide(
            [
                Self.incoming(
                    SandboxSweepRequested(
                        app: Self.app, sweep: "00000000-0000-4000-8000-0000000000b1",
                        before: WallClock.milliseconds + 60_000, after: nil, actor: "op", isDryRun: false))
            ], by: RunCommands())
    }

    /// One batch of Granting.
    func decide(_ batch: [Incoming], by handler: some Handler) throws -> [Fact] {
        let facts = try run(handler, batch, "granting")
        try journal()
        return facts
    }

    /// What a journal that read the stream would hold.
    private func journal() throws {
        try database.execute(
            """
            SELECT reconciliation.make_month(f.occurred_at) FROM granting.facts f
            WHERE NOT EXISTS (SELECT FROM reconciliation.journal j WHERE j.id = f.id);
            INSERT INTO reconciliation.journal (id, occurred_at, type, version, correlation_id, stream_offset, body)
            SELECT f.id, f.occurred_at, f.type, f.version, f.correlation_id, f.sequence, f.body FROM granting.facts f
            ON CONFLICT DO NOTHING
            """)
    }

    /// One batch in one transaction of the service's role; its facts count as published.
    func run(_ handler: some Handler, _ batch: [Incoming], _ schema: String) throws -> [Fact] {
        var connection = try database.open(role: "purser_\(schema)")
        var handler = handler
        return try connection.transaction { transaction in
            let facts = try handler.handle(batch, in: &transaction).flatMap { outcome -> [Fact] in
                if case .done(let facts, _) = outcome { facts } else { [] }
            }
            let store = FactStore(schema: schema)
            let saved = try store.save(facts, recalling: [], retiring: [], in: &transaction)
            if let row = saved.unannounced { try store.retire([row], in: &transaction) }
            return facts
        }
    }

    static func statement(
        _ id: String, _ product: String = "coins60", original: String? = nil, type: String = "Consumable",
        environment: String = "Production", quantity: Int64 = 1, token: String? = nil, later: Int64 = 0,
        revoked: Int64? = nil
    ) -> SimulatedTransaction {
        let bought = WallClock.milliseconds - 3_600_000
        var statement = SimulatedTransaction(
            transactionID: id, bundleID: bundleID, productID: product, purchaseDate: bought, type: type,
            environment: environment, quantity: quantity, appAccountToken: token)
        statement.originalTransactionID = original
        statement.signedDate = bought + later * 60_000
        if let revoked {
            statement.revocationDate = bought + later * 60_000
            statement.revocationPercentage = revoked
            statement.revocationReason = 0
            statement.revocationType = revoked == 100_000 ? "REFUND_FULL" : "REFUND_PRORATED"
        }
        return statement
    }

    static func incoming(_ body: some Message) throws -> Incoming {
        func type<M: Message>(of _: M) -> MessageType { M.type }
        let header = MessageHeader(
            id: MessageID(UUIDText.random()), type: type(of: body), version: 1, occurredAt: 0,
            correlationID: "correlation", replyTo: "gateway")
        return Incoming(header: header, body: try MessageCoding.encode(body), isRedelivered: false)
    }

    // MARK: - What is found

    /// An audit by the auditor's role: the exit code and what was printed.
    func audit(_ arguments: String..., settings: [String: String] = [:]) -> (code: Int32, lines: [String]) {
        var lines: [String] = []
        let environment = ["PURSER_CONTROL_DATABASE": database.conninfo(role: "purser_auditor")]
            .merging(settings) { $1 }
        let command = AuditCommand(output: { lines.append($0) }, environment: environment)
        return (command.run(arguments: arguments), lines)
    }

    /// The report itself.
    func report(_ arguments: String..., since state: AuditState? = nil) throws -> AuditReport {
        let auditor = Auditor(
            database: Secret(database.conninfo(role: "purser_auditor")), broker: nil,
            options: try AuditOptions(arguments))
        return try auditor.run(since: state)
    }

    /// Changes rows as nobody of ours can: as superuser, without triggers and foreign keys.
    func corrupt(_ sql: String) throws {
        try database.execute("SET session_replication_role = replica; \(sql)")
    }
}

extension AuditReport {
    /// The names of the checks that found something, sorted.
    var failed: [String] {
        var names = outcomes.filter { $0.total > 0 }.map(\.name)
        for sight in sights { if case .lost = verdict(sight) { names.append(sight.check.name) } }
        return names.sorted()
    }
}
