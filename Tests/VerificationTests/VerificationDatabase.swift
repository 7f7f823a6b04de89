import Messages
import Observability
import Postgres
import TestSupport
import Trust

@testable import AppStore
@testable import Pipeline
@testable import Verification

/// A migrated database of the test's own, used as the service uses it: role `purser_verification`, the handler inside a
/// transaction, facts stored by the lane's own code.
struct VerificationDatabase: Sendable {
    let database: TestDatabase

    /// Makes the database called `name` and runs `body` on a thread of its own.
    static func with<R: Sendable>(
        _ name: String, _ body: @escaping @Sendable (VerificationDatabase) throws -> R
    ) async throws -> R {
        let database = try await TestDatabase.shared("verification_\(name)")
        return try await onThread {
            try database.migrate(VerificationProgram.name, VerificationProgram.migrations)
            return try body(VerificationDatabase(database: database))
        }
    }

    /// A lane's connection and handler.
    func open(
        quarantineLimit: Int64 = EvidenceStore.defaultQuarantineLimit, metrics: Metrics = Metrics(),
        revocation: RevocationPolicy = .off, now: @escaping @Sendable () -> Int64 = { World.now }
    ) throws -> Session {
        Session(
            connection: try database.open(role: "purser_verification", parameters: Connection.plansByIndex),
            handler: try Self.handler(
                EvidenceStore(quarantineLimit: quarantineLimit), metrics: metrics, revocation: revocation, now: now))
    }

    /// The handler as the service makes it, with a clock that stands still.
    static func handler(
        _ store: EvidenceStore = EvidenceStore(), metrics: Metrics = Metrics(), revocation: RevocationPolicy = .off,
        erased: ErasedUsers = ErasedUsers(), now: @escaping @Sendable () -> Int64 = { World.now }
    ) throws -> VerifyPurchases {
        VerifyPurchases(
            verifier: try World().verifier(), receipts: try World().receiptVerifier(), metrics: metrics,
            logger: .silent, revocation: revocation, store: store, erased: erased, now: now)
    }

    /// Rows of a query of the superuser.
    func rows(_ sql: String) throws -> [Row] {
        var connection = try database.open()
        return Array(try connection.query(sql))
    }

    /// Rows in a table.
    func count(_ table: String) throws -> Int64 {
        try rows("SELECT count(*) AS count FROM verification.\(table)").first?.int8("count") ?? -1
    }

    /// Every statement kept, rebuilt as it was signed.
    func rebuilt() throws -> [String] {
        try rows(
            """
            SELECT h.segment, e.payload, e.signature, e.payload_hash FROM verification.evidence e
            JOIN verification.headers h ON h.id = e.header ORDER BY e.transaction_id, e.signed_date, e.payload_hash
            """
        ).map { row in
            let evidence = try SignedEvidence(
                headerSegment: Array(row.text("segment").utf8), payload: row.bytes("payload"),
                signature: row.bytes("signature"), payloadSHA256: row.bytes("payload_hash"))
            return String(decoding: evidence.jws(), as: UTF8.self)
        }
    }
}

/// A connection that runs the handler as a lane does.
struct Session: ~Copyable {
    var connection: Connection
    var handler: VerifyPurchases

    /// One batch in one transaction; facts are stored with it.
    mutating func run(_ batch: [Incoming], beforeCommit: () throws -> Void = {}) throws -> [Outcome] {
        var handler = self.handler
        defer { self.handler = handler }
        return try connection.transaction { transaction in
            let outcomes = try handler.handle(batch, in: &transaction)
            _ = try FactStore(schema: VerificationProgram.name).save(
                outcomes.flatMap(\.facts), recalling: batch.map(\.header.id), retiring: [], in: &transaction)
            try beforeCommit()
            return outcomes
        }
    }
}

/// Thrown to roll a transaction back.
struct RollBack: Error {}
