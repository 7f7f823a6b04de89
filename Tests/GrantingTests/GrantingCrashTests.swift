import AMQP
import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import Granting

/// What the crash suites of Granting share: a stage with a catalogue in force, and questions about its books.
struct GrantingStage: Sendable {
    let stage: LaneStage
    var granting: GrantingDatabase { GrantingDatabase(database: stage.database) }

    /// A stage for the lane of `queue`; its virtual host is shared by one suite.
    static func make(
        _ queue: Topology.Queue, _ name: String, _ definition: CatalogDefinition = Shop.definition(),
        script: String = ""
    ) async throws -> GrantingStage {
        let made = GrantingStage(
            stage: try await LaneStage.make(
                suite: queue.name.replacing(".", with: "_"), name: name, queue: queue,
                migrations: GrantingSchema.migrations, script: script))
        try await onThread {
            var session = try made.granting.open()
            _ = try session.run(RunCommands(), [try made.granting.importing(definition, version: 0)])
        }
        return made
    }

    /// One number.
    func number(_ sql: String) throws -> Int64 {
        try granting.rows("SELECT (\(sql))::bigint AS n").first?.int8("n") ?? -1
    }

    /// Balances by user and asset.
    func balances() throws -> [String: Int64] {
        let rows = try granting.rows(
            "SELECT user_id, asset, balance FROM granting.accounts JOIN granting.customers USING (customer)")
        return try rows.reduce(into: [:]) {
            $0["\(try $1.text("user_id")) \(try $1.text("asset"))"] = try $1.int8("balance")
        }
    }

    /// A verified purchase as Verification publishes it.
    func purchase(_ transaction: VerifiedTransaction, by user: String?, order: String? = nil) throws -> OutgoingMessage
    {
        try stage.request(
            PurchaseVerified(
                app: Shop.app, userID: user.map { UserID($0) }, orderNumber: order.map { OrderNumber($0) },
                transaction: transaction))
    }

    /// What must hold whatever happened: nothing lies around, and the books balance.
    func expectOrder() throws {
        #expect(try stage.leftovers() == [])
        #expect(try granting.imbalances() == [])
    }
}

extension [Told] {
    /// The ids under which each thing was told, by what it is about: one id each, or it happened twice.
    func identifiers<M: Message>(_ type: M.Type, about key: (M) -> String) throws -> [String: Set<MessageID>] {
        try reduce(into: [:]) { found, told in
            if let message = try told.read(type) { found[key(message), default: []].insert(told.id) }
        }
    }
}
