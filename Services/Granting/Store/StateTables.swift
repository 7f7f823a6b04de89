import Messages
import Pipeline
import Postgres

/// What became of purchases, for whoever compares books. Nobody's user id is asked for or told.
enum StateTables {
    /// What became of the transaction `t`.
    static let outcome = """
        CASE WHEN t.transaction_id IS NULL THEN 'unknown' WHEN t.delivered_by IS NOT NULL THEN 'granted'
            WHEN t.held_reason IS NOT NULL THEN 'held' WHEN t.revoked_share = 100000 THEN 'refunded'
            WHEN t.owner IS NULL THEN 'unclaimed' ELSE 'beside' END
        """

    /// The states of the first ``PurchaseStatesRequested/mostKeys`` purchases asked for.
    static func read(_ question: PurchaseStatesRequested) -> Statement {
        let keys = question.keys.prefix(PurchaseStatesRequested.mostKeys)
        return Statement(
            """
            SELECT k.environment, k.transaction_id, t.held_reason, t.signed_date, t.revoked_share,
                \(outcome) AS outcome
            FROM unnest($1::text[], $2::text[]) AS k(environment, transaction_id)
            LEFT JOIN granting.transactions t ON t.environment = k.environment AND t.transaction_id = k.transaction_id
            """,
            [.textArray(keys.map(\.environment.rawValue)), .textArray(keys.map(\.transactionID.rawValue))])
    }

    /// The answer.
    static func answer(_ rows: Rows) throws -> PurchaseStatesAnswered {
        PurchaseStatesAnswered(
            states: try rows.compactMap(state))
    }

    /// One of them.
    static func state(_ row: Row) throws -> PurchaseState? {
        guard let environment = StoreEnvironment(rawValue: try row.text("environment")),
            let outcome = PurchaseState.Outcome(rawValue: try row.text("outcome"))
        else { return nil }
        let key = PurchaseKey(environment: environment, transactionID: TransactionID(try row.text("transaction_id")))
        var state = PurchaseState(
            key: key, outcome: outcome,
            reason: try row.optionalText("held_reason").flatMap { HeldReason(rawValue: $0) })
        state.signedDate = try row.optionalInt8("signed_date")
        state.revokedShare = try row.optionalInt8("revoked_share")
        return state
    }
}
