import Messages
import Observability
import Postgres
import TestSupport
import Trust

@testable import AppStore
@testable import NotificationIntake
@testable import Pipeline

/// A migrated database of the test's own, used as the service uses it: role `purser_intake`, the handler inside a
/// transaction, facts stored by the lane's own code.
struct IntakeDatabase: Sendable {
    let database: TestDatabase

    /// Makes the database called `name` and runs `body` on a thread of its own.
    static func with<R: Sendable>(
        _ name: String, _ body: @escaping @Sendable (IntakeDatabase) throws -> R
    ) async throws -> R {
        let database = try await TestDatabase.shared("intake_\(name)")
        return try await onThread {
            try database.migrate(IntakeProgram.name, IntakeProgram.migrations)
            return try body(IntakeDatabase(database: database))
        }
    }

    /// A lane's connection and the handler of notifications.
    func open(quarantineLimit: Int64 = NotificationStore.defaultQuarantineLimit) throws -> Session {
        try open(handler: try Self.handler(NotificationStore(quarantineLimit: quarantineLimit)))
    }

    /// A lane's connection with any handler.
    func open(handler: any Handler) throws -> Session {
        Session(
            connection: try database.open(role: "purser_intake", parameters: Connection.plansByIndex), handler: handler)
    }

    /// The handler as the service makes it, with a clock that stands still.
    static func handler(
        _ store: NotificationStore = NotificationStore(), metrics: Metrics = Metrics(),
        revocation: RevocationPolicy = .off,
        now: @escaping @Sendable () -> Int64 = { World.now }
    ) throws -> StoreNotifications {
        StoreNotifications(
            verifier: try World().verifier(), instruments: IntakeMetrics(metrics), logger: .silent,
            chains: ChainWatch(revocation, service: IntakeProgram.name, metrics: metrics), store: store, now: now)
    }

    /// The other handler.
    static func redriver(pageSize: Int64 = RedriveNotifications.defaultPageSize) throws -> RedriveNotifications {
        RedriveNotifications(
            verifier: try World().verifier(), instruments: IntakeMetrics(Metrics()), logger: .silent,
            pageSize: pageSize, now: { World.now })
    }

    /// Rows of a query of the superuser.
    func rows(_ sql: String) throws -> [Row] {
        var connection = try database.open()
        return Array(try connection.query(sql))
    }

    /// Rows in a table.
    func count(_ table: String) throws -> Int64 {
        try rows("SELECT count(*) AS count FROM intake.\(table)").first?.int8("count") ?? -1
    }

    /// How often a notification came, as far as was counted.
    func timesReceived(_ number: Int = 1) throws -> Int64? {
        try rows("SELECT times_received FROM intake.notifications WHERE notification_uuid = '\(World.uuid(number))'")
            .first?.int8("times_received")
    }

    /// Every notification kept, rebuilt as it was signed, in the order of arrival.
    func rebuilt() throws -> [String] {
        try rows(
            """
            SELECT h.segment, n.payload, n.signature FROM intake.notifications n
            JOIN intake.headers h ON h.id = n.header ORDER BY n.sequence
            """
        ).map { row in
            let evidence = try SignedEvidence(
                headerSegment: Array(row.text("segment").utf8), payload: row.bytes("payload"),
                signature: row.bytes("signature"))
            return String(decoding: evidence.jws(), as: UTF8.self)
        }
    }

    /// Reasons in quarantine, in order.
    func refusals() throws -> [String] {
        try rows("SELECT reason FROM intake.quarantine ORDER BY sequence").map { try $0.text("reason") }
    }
}

/// A connection that runs a handler as a lane does.
struct Session: ~Copyable {
    var connection: Connection
    var handler: any Handler

    /// One batch in one transaction; facts are stored with it.
    mutating func run(_ batch: [Incoming]) throws -> [Outcome] {
        var handler = self.handler
        defer { self.handler = handler }
        return try connection.transaction { transaction in
            let outcomes = try handler.handle(batch, in: &transaction)
            _ = try FactStore(schema: IntakeProgram.name).save(
                outcomes.flatMap(\.facts), recalling: batch.map(\.header.id), retiring: [], in: &transaction)
            return outcomes
        }
    }
}
