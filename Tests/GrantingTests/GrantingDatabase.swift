import Messages
import Postgres
import Service
import TestSupport

@testable import Granting
@testable import Pipeline

/// A migrated database of the test's own, used as the service uses it: role `purser_granting`, handlers inside
/// transactions, facts stored by the lane's own code.
struct GrantingDatabase: Sendable {
    let database: TestDatabase

    /// The database called `name`, made and migrated at the first call. Off the cooperative pool.
    static func make(_ name: String) async throws -> GrantingDatabase {
        let database = try await TestDatabase.shared("granting_\(name)")
        try await onThread {
            for role in ["purser_migrator", "purser_granting", "purser_auditor"] { try database.createRole(role) }
            try database.execute("CREATE SCHEMA granting AUTHORIZATION purser_migrator")
            var connection = try database.open(role: "purser_migrator")
            let migrator = Migrator(schema: GrantingSchema.name, migrations: GrantingSchema.migrations)
            _ = try migrator.run(on: &connection)
        }
        return GrantingDatabase(database: database)
    }

    /// Makes the database, imports a catalogue and runs `body` on a thread of its own.
    static func with<R: Sendable>(
        _ name: String, _ definition: CatalogDefinition? = Shop.definition(),
        _ body: @escaping @Sendable (GrantingDatabase) throws -> R
    ) async throws -> R {
        let granting = try await make(name)
        return try await onThread {
            if let definition {
                var session = try granting.open()
                _ = try session.run(RunCommands(), [granting.importing(definition, version: 0)])
            }
            return try body(granting)
        }
    }

    /// A connection like a lane's; but where a lane tries again after 2 s of waiting for a lock, this one is patient.
    func open() throws -> Session {
        let parameters = Connection.plansByIndex.merging(["lock_timeout": "60s", "statement_timeout": "60s"]) { $1 }
        return Session(connection: try database.open(role: "purser_granting", parameters: parameters))
    }

    func importing(_ definition: CatalogDefinition, version: Int64, id: MessageID? = nil) throws -> Incoming {
        try message(
            CatalogImportRequested(app: Shop.app, actor: "op", expectedVersion: version, definition: definition), id: id
        )
    }

    /// Rows of a query of the superuser.
    func rows(_ sql: String) throws -> [Row] {
        var connection = try database.open()
        return Array(try connection.query(sql))
    }

    /// What the books' invariants say about the rows: empty when all is well.
    func imbalances() throws -> [String] {
        try rows(Self.audit).map { try $0.text("problem") }
    }

    private static let audit = """
        SELECT 'balance of ' || a.customer || ' ' || a.asset AS problem FROM granting.accounts a
        WHERE a.balance <> coalesce((SELECT sum(CASE l.direction WHEN 'IN' THEN l.amount ELSE -l.amount END)
                FROM granting.ledger l WHERE l.customer = a.customer AND l.asset = a.asset), 0)
            OR a.balance <> coalesce((SELECT sum(l.remaining) FROM granting.lots l
                WHERE l.customer = a.customer AND l.asset = a.asset), 0)
            OR a.balance <> (SELECT l.balance_after FROM granting.ledger l
                WHERE l.customer = a.customer AND l.asset = a.asset ORDER BY l.id DESC LIMIT 1)
        UNION ALL
        SELECT 'draws of lot ' || l.id FROM granting.lots l
        WHERE l.amount - l.remaining <> coalesce((SELECT sum(d.amount) FROM granting.draws d WHERE d.lot = l.id), 0)
        UNION ALL
        SELECT 'target of ' || l.transaction_id FROM granting.lots l JOIN granting.grants g USING (environment, transaction_id)
        WHERE floor(l.amount::numeric * g.applied_share / 100000) <>
            coalesce((SELECT sum(d.amount) FROM granting.draws d JOIN granting.lots o ON o.id = d.lot
                WHERE d.refunded_environment = l.environment AND d.refunded_transaction = l.transaction_id
                    AND o.asset = l.asset), 0)
            + coalesce((SELECT d.amount - d.settled FROM granting.debts d WHERE d.environment = l.environment
                AND d.transaction_id = l.transaction_id AND d.asset = l.asset), 0)
        UNION ALL
        SELECT 'delivery of ' || g.transaction_id FROM granting.grants g
        LEFT JOIN granting.transactions t USING (environment, transaction_id)
        WHERE t.owner IS DISTINCT FROM g.customer OR t.delivered_by IS DISTINCT FROM g.transaction_id
        """
}

/// A connection that runs handlers as a lane does.
struct Session: ~Copyable {
    var connection: Connection

    /// One batch in one transaction; facts are stored with it.
    mutating func run(_ handler: some Handler, _ batch: [Incoming]) throws -> [Outcome] {
        var handler = handler
        return try run(&handler, batch)
    }

    /// One batch in one transaction, by a handler that keeps its caches.
    mutating func run(
        _ handler: inout some Handler, _ batch: [Incoming], beforeCommit: () throws -> Void = {}
    ) throws -> [Outcome] {
        try connection.transaction { transaction in
            let outcomes = try handler.handle(batch, in: &transaction)
            let store = FactStore(schema: GrantingSchema.name)
            _ = try store.save(
                outcomes.flatMap(\.facts), recalling: batch.map(\.header.id), retiring: [], in: &transaction)
            try beforeCommit()
            return outcomes
        }
    }
}

extension Outcome {
    /// The facts of a message that was handled.
    var facts: [Fact] {
        if case .done(let facts, _) = self { facts } else { [] }
    }

    /// The reason of a message that was parked.
    var parkedReason: String? {
        if case .park(let reason) = self { reason } else { nil }
    }

    /// The answer of a message that was handled, nil if it is of another kind.
    func answer<M: Message>(_ type: M.Type) throws -> M? {
        guard case .done(_, let reply) = self, let reply, reply.type == M.type else { return nil }
        return try MessageCoding.decode(type, from: reply.body)
    }
}

/// A message as a lane hands it over; somebody waits for the answer.
func message(_ body: some Message, id: MessageID? = nil) throws -> Incoming {
    let header = MessageHeader(
        id: id ?? MessageID(UUIDText.random()), type: body.messageType, version: 1, occurredAt: 0,
        correlationID: "correlation", replyTo: "gateway")
    return Incoming(header: header, body: try MessageCoding.encode(body), isRedelivered: false)
}

/// A verified purchase as a message.
func verified(
    _ transaction: VerifiedTransaction, by user: String?, order: OrderNumber? = nil, id: MessageID? = nil
) throws -> Incoming {
    try message(
        PurchaseVerified(
            app: Shop.app, userID: user.map { UserID($0) }, orderNumber: order, transaction: transaction), id: id)
}

/// A notification as a message.
func notified(
    _ type: AppleNotificationType, _ transaction: VerifiedTransaction?, uuid: String? = nil, id: MessageID? = nil
) throws -> Incoming {
    try message(notification(type, transaction, uuid: uuid), id: id)
}

/// What Intake says of a notification.
func notification(
    _ type: AppleNotificationType, _ transaction: VerifiedTransaction?, uuid: String? = nil
) -> NotificationVerified {
    var body = NotificationVerified(
        app: Shop.app, environment: transaction?.environment ?? .production,
        notificationUUID: uuid ?? UUIDText.random(), notificationType: type.rawValue,
        signedDate: transaction?.signedDate ?? Shop.day)
    body.transaction = transaction
    return body
}

/// A spend as a message.
func spending(
    _ amount: Int64, id source: String, by user: String, asset: AssetID = Shop.coins, deadline: Int64 = .max,
    id: MessageID? = nil
) throws -> Incoming {
    try message(
        SpendRequested(
            app: Shop.app, userID: UserID(user), asset: asset, amount: amount, sourceID: source, deadline: deadline),
        id: id)
}
