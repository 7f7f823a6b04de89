import Messages
import Postgres
import TestSupport
import Testing

@testable import Granting

@Suite struct SchemaTests {
    struct Refusal: Sendable, CustomTestStringConvertible {
        var sql: String
        var state: String
        var role: String? = "purser_granting"
        var testDescription: String { "\(role ?? "superuser"): \(sql)" }
    }

    private static let customer = "(SELECT customer FROM granting.customers LIMIT 1)"
    static let refusals = [
        Refusal(sql: "UPDATE granting.ledger SET amount = 0", state: "42501"),
        Refusal(sql: "DELETE FROM granting.ledger", state: "42501"),
        Refusal(sql: "TRUNCATE granting.ledger", state: "42501"),
        Refusal(sql: "UPDATE granting.ledger SET amount = 0", state: "42501", role: nil),
        Refusal(sql: "DELETE FROM granting.ledger", state: "42501", role: nil),
        Refusal(sql: "TRUNCATE granting.ledger CASCADE", state: "42501", role: nil),
        Refusal(sql: "DELETE FROM granting.facts", state: "42501"),
        Refusal(sql: "UPDATE granting.facts SET body = ''", state: "42501", role: nil),
        Refusal(sql: "DELETE FROM granting.spends", state: "42501", role: nil),
        Refusal(sql: "DELETE FROM granting.draws", state: "42501", role: nil),
        Refusal(sql: "DELETE FROM granting.grants", state: "42501"),
        Refusal(sql: "UPDATE granting.grants SET customer = gen_random_uuid()", state: "42501"),
        Refusal(sql: "DELETE FROM granting.customers", state: "42501"),
        Refusal(sql: "UPDATE granting.tokens SET customer = gen_random_uuid()", state: "42501"),
        Refusal(sql: "DROP TABLE granting.ledger", state: "42501"),
        Refusal(sql: "CREATE TABLE granting.mine ()", state: "42501"),
        Refusal(sql: "INSERT INTO granting.unannounced (facts) VALUES ('{}')", state: "42501", role: "purser_auditor"),
        Refusal(sql: "UPDATE granting.accounts SET balance = 1", state: "42501", role: "purser_auditor"),
        Refusal(sql: "UPDATE granting.accounts SET balance = -1", state: "23514"),
        Refusal(sql: "UPDATE granting.lots SET remaining = amount + 1", state: "23514"),
        Refusal(sql: "UPDATE granting.lots SET remaining = -1", state: "23514"),
        Refusal(
            sql: """
                INSERT INTO granting.grants (environment, transaction_id, app, customer, product_id, product_version,
                    quantity, kind, original_transaction_id, cause)
                SELECT environment, transaction_id, app, customer, product_id, product_version, quantity, kind,
                    original_transaction_id, cause FROM granting.grants
                """, state: "23505"),
        Refusal(
            sql: """
                INSERT INTO granting.ledger (customer, asset, direction, amount, balance_after, source_type, source_id,
                    environment, cause)
                SELECT customer, asset, direction, amount, balance_after, source_type, source_id, environment, cause
                FROM granting.ledger
                """, state: "23505"),
        Refusal(
            sql: """
                INSERT INTO granting.spends (customer, source_id, app, asset, amount, outcome, deadline, balance_after,
                    cause) VALUES (\(customer), 's', 'cloudpc', 'DANBING', 1, 'spent', 0, 0, gen_random_uuid())
                """, state: "23505"),
        Refusal(
            sql: """
                INSERT INTO granting.tokens (app, token, customer)
                SELECT app, token, customer FROM granting.tokens
                """, state: "23505"),
        Refusal(
            sql: "UPDATE granting.transactions SET delivered_by = transaction_id, held_reason = 'family_shared'",
            state: "23514"),
        Refusal(sql: "UPDATE granting.transactions SET owner = NULL", state: "23514"),
    ]

    @Test func `the schema refuses what the code should never ask for (A-068 A-073 A-100)`() async throws {
        try await GrantingDatabase.with("constraints") { granting in
            var session = try granting.open()
            let order = OrderRequested(
                app: Shop.app, userID: UserID("alice"), productID: Shop.coins60, orderNumber: OrderNumber("A1"),
                appAccountToken: Shop.aliceToken)
            _ = try session.run(DecideWallet(), [try message(order)])
            _ = try session.run(GrantPurchases(), [try verified(transaction("1"), by: "alice")])
            _ = try session.run(DecideWallet(), [try spending(1, id: "s", by: "alice")])
            for refusal in Self.refusals {
                var connection = try granting.database.open(role: refusal.role)
                var state: String?
                do {
                    _ = try connection.query(refusal.sql)
                } catch let error as PostgresError {
                    state = error.sqlState
                }
                #expect(state == refusal.state, "\(refusal.testDescription)")
            }
            #expect(try granting.imbalances() == [])
        }
    }

    @Test func `every table says what it is for, and the auditor may read all of them`() async throws {
        try await GrantingDatabase.with("comments", nil) { granting in
            let silent = try granting.rows(
                """
                SELECT relname::text AS name FROM pg_class
                WHERE relnamespace = 'granting'::regnamespace AND relkind = 'r'
                    AND (obj_description(oid) IS NULL OR NOT has_table_privilege('purser_auditor', oid, 'SELECT'))
                """)
            #expect(try silent.map { try $0.text("name") } == [])
        }
    }
}
