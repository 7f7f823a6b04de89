import Messages
import Pipeline
import Postgres

/// `granting.refund_statements`, `.risk_flags`, and the open part of `.debts`.
enum RefundTables {
    /// Stores statements about refunds, one row a signed text. One that is there learns which notification told it.
    static func save(_ statements: [RefundStatement]) -> Statement {
        let signed = statements.map(\.statement)
        return Statement(
            """
            INSERT INTO granting.refund_statements AS r (environment, transaction_id, signed_date, payload_hash,
                revoked_share, revocation_date, revocation_reason, revocation_type, revocation_percentage,
                notification_type, notification_uuid, cause)
            SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[],
                $7::bigint[], $8::text[], $9::bigint[], $10::text[], $11::uuid[], $12::uuid[])
            ON CONFLICT (environment, transaction_id, signed_date, payload_hash) DO UPDATE
                SET notification_type = EXCLUDED.notification_type, notification_uuid = EXCLUDED.notification_uuid
                WHERE r.notification_uuid IS NULL AND EXCLUDED.notification_uuid IS NOT NULL
            """,
            SQLValue.keys(signed.map(\.key)) + [
                .int8Array(signed.map(\.signedDate)), .textArray(signed.map(\.payloadHash)),
                .int8Array(signed.map(\.revokedShare)), .int8Array(signed.map(\.revocationDate)),
                .int8Array(signed.map(\.revocationReason)), .textArray(signed.map(\.revocationType)),
                .int8Array(signed.map(\.revocationPercentage)),
                .textArray(statements.map { $0.notification?.type.rawValue }),
                .uuids(statements.map { $0.notification?.uuid }), .uuids(statements.map(\.cause)),
            ])
    }

    /// Stores flags.
    static func insert(_ flags: [RiskFlag]) -> Statement {
        Statement(
            """
            INSERT INTO granting.risk_flags (environment, transaction_id, kind, revision, app, customer, cause)
            SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::uuid[], $7::uuid[])
            """,
            SQLValue.keys(flags.map(\.key)) + [
                .textArray(flags.map(\.kind.rawValue)), .int8Array(flags.map(\.revision)), .texts(flags.map(\.app)),
                .uuids(flags.map(\.customer)), .uuids(flags.map(\.cause)),
            ])
    }

    /// Refunds that limits may count: of the last 31 days, so that the decision's own clock draws the line. A customer has
    /// few of them, and the index holds nothing else.
    static func counted(_ customers: [CustomerID]) -> Statement {
        Statement(
            """
            SELECT t.environment, t.transaction_id, t.owner, t.revocation_date, t.price, t.currency, t.revoked_share
            FROM granting.transactions t
            WHERE t.owner = ANY($1::uuid[]) AND t.revoked_share > 0
                AND t.revocation_date > (extract(epoch FROM clock_timestamp() - interval '31 days') * 1000)::bigint
                AND NOT (t.is_upgraded IS TRUE AND t.product_type = 'Auto-Renewable Subscription')
            """, [.uuids(customers)])
    }

    /// When operators last cleared customers.
    static func clearances(_ customers: [CustomerID]) -> Statement {
        Statement(
            """
            SELECT customer, max(cleared_at) AS at FROM granting.risk_clearances WHERE customer = ANY($1::uuid[])
            GROUP BY customer
            """, [.uuids(customers)])
    }

    /// Clears a user: refunds of before count no more. Nothing if there is no such user, or if it was done before.
    static func clear(_ request: RiskClearRequested, cause: MessageID) -> Statement {
        Statement(
            """
            INSERT INTO granting.risk_clearances (cause, customer, actor, reason)
            SELECT ($3::uuid[])[1], c.customer, $4, $5 FROM granting.customers c WHERE c.app = $1 AND c.user_id = $2
            ON CONFLICT (cause) DO NOTHING
            """,
            [
                .text(request.app.rawValue), .text(request.userID.rawValue), .uuids([cause]), .text(request.actor),
                .text(request.reason),
            ])
    }

    /// A counted refund's row.
    static func counted(_ row: Row) throws -> CountedRefund {
        CountedRefund(
            key: try row.transactionKey(), customer: try row.id("owner"),
            revocationDate: try row.int8("revocation_date"), price: try row.optionalInt8("price"),
            currency: try row.optionalText("currency"), share: try row.int8("revoked_share"))
    }

    /// A clearance's row.
    static func clearance(_ row: Row) throws -> (customer: CustomerID, at: Int64) {
        (try row.id("customer"), try row.timestampMilliseconds("at"))
    }

    /// What these customers owe.
    static func openDebts(_ customers: [CustomerID]) -> Statement {
        Statement(
            """
            SELECT d.environment, d.transaction_id, d.asset, d.customer, d.amount, d.settled FROM granting.debts d
            WHERE d.customer = ANY($1::uuid[]) AND d.settled < d.amount
            """, [.uuids(customers)])
    }
}
