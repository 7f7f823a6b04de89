import Messages
import Pipeline
import Postgres

/// `granting.renewals`, and what makes a subscription's periods and owner known.
enum SubscriptionTables {
    /// Keeps the newest renewal info of each subscription: later `signedDate`, on a tie the larger payload hash. Needs no
    /// lock before: an older one changes nothing, whenever it comes. One row a subscription, sorted.
    static func save(_ renewals: [Renewal]) -> Statement {
        let signed = renewals.map(\.info)
        return Statement(
            """
            INSERT INTO granting.renewals AS r (environment, original_transaction_id, app, signed_date, payload_hash,
                product_id, auto_renew_product_id, auto_renew_status, expiration_intent, is_in_billing_retry,
                grace_period_expires_date, renewal_date)
            SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[],
                $8::bigint[], $9::bigint[], $10::boolean[], $11::bigint[], $12::bigint[])
            ON CONFLICT (environment, original_transaction_id) DO UPDATE SET signed_date = EXCLUDED.signed_date,
                payload_hash = EXCLUDED.payload_hash, product_id = EXCLUDED.product_id,
                auto_renew_product_id = EXCLUDED.auto_renew_product_id,
                auto_renew_status = EXCLUDED.auto_renew_status, expiration_intent = EXCLUDED.expiration_intent,
                is_in_billing_retry = EXCLUDED.is_in_billing_retry,
                grace_period_expires_date = EXCLUDED.grace_period_expires_date,
                renewal_date = EXCLUDED.renewal_date, updated_at = clock_timestamp()
                WHERE (r.signed_date, r.payload_hash) < (EXCLUDED.signed_date, EXCLUDED.payload_hash)
            """,
            SQLValue.keys(renewals.map(\.chain)) + [
                .texts(renewals.map(\.app)), .int8Array(signed.map(\.signedDate)),
                .textArray(signed.map(\.payloadHash)), .texts(signed.map(\.productID)),
                .texts(signed.map(\.autoRenewProductID)), .int8Array(signed.map(\.autoRenewStatus)),
                .int8Array(signed.map(\.expirationIntent)), .boolArray(signed.map(\.isInBillingRetryPeriod)),
                .int8Array(signed.map(\.gracePeriodExpiresDate)), .int8Array(signed.map(\.renewalDate)),
            ])
    }

    /// Locks subscriptions, by their names: nothing has a row before somebody owns it, and of two customers who claim two
    /// periods at once the second must find what the first got. In the order of the hashes, the same for everybody;
    /// a collision makes two subscriptions wait for each other and nothing more.
    static func lock(_ chains: [TransactionKey]) -> Statement {
        Statement(
            """
            SELECT pg_advisory_xact_lock(k.hash) FROM (
                SELECT DISTINCT hashtextextended('granting.subscriptions ' || environment || '/' || original, 0) AS hash
                FROM unnest($1::text[], $2::text[]) AS k (environment, original) ORDER BY 1) AS k
            """, SQLValue.keys(chains))
    }

    /// All transactions that tell of these periods, with the tokens they carry if they are ours. They stand still under
    /// the locks of their subscriptions.
    static func transactions(of periods: [PeriodKey]) -> Statement {
        Statement(
            """
            SELECT \(TransactionTable.selected), i.customer AS token_customer, i.order_number AS token_order
            FROM unnest($1::text[], $2::text[], $3::text[]) AS k (environment, original, item)
            JOIN granting.transactions t ON t.environment = k.environment AND t.original_transaction_id = k.original
            LEFT JOIN granting.tokens i ON i.app = t.app AND i.token = t.app_account_token
            WHERE coalesce(t.web_order_line_item_id, t.transaction_id) = k.item AND t.ownership <> 'FAMILY_SHARED'
            """, keys(periods))
    }

    /// The token of such a row, if it carries one of ours.
    static func token(_ row: Row) throws -> (key: TokenKey, token: IssuedToken)? {
        guard let customer: CustomerID = try row.optionalID("token_customer"),
            let token = try row.optionalUUID("app_account_token")
        else { return nil }
        return (
            TokenKey(app: AppID(try row.text("app")), token: UUIDText.format(token)),
            IssuedToken(customer: customer, orderNumber: try row.optionalName("token_order"))
        )
    }

    /// Who owns subscriptions: the owner of the newest period that has one.
    static func owners(_ chains: [TransactionKey]) -> Statement {
        Statement(
            """
            SELECT DISTINCT ON (t.environment, t.original_transaction_id) t.environment,
                t.original_transaction_id AS transaction_id, t.owner, t.purchase_date, t.transaction_id AS period
            FROM unnest($1::text[], $2::text[]) AS k (environment, original)
            JOIN granting.transactions t ON t.environment = k.environment AND t.original_transaction_id = k.original
            WHERE t.owner IS NOT NULL
            ORDER BY t.environment, t.original_transaction_id, t.purchase_date DESC, t.transaction_id DESC
            """, SQLValue.keys(chains))
    }

    /// Which grants delivered these periods.
    static func periods(_ periods: [PeriodKey]) -> Statement {
        Statement(
            """
            SELECT g.environment, g.transaction_id, g.original_transaction_id, g.web_order_line_item_id, g.customer
            FROM unnest($1::text[], $2::text[], $3::text[]) AS k (environment, original, item)
            JOIN granting.grants g ON g.environment = k.environment AND g.original_transaction_id = k.original
                AND g.web_order_line_item_id = k.item
            WHERE g.kind = 'period'
            """, keys(periods))
    }

    private static func keys(_ periods: [PeriodKey]) -> [SQLValue] {
        [
            .textArray(periods.map(\.environment.rawValue)), .texts(periods.map(\.originalTransactionID)),
            .textArray(periods.map(\.item)),
        ]
    }

    /// An owner's row.
    static func owner(_ row: Row) throws -> (chain: TransactionKey, owner: SubscriptionOwner) {
        (
            try row.transactionKey(),
            SubscriptionOwner(
                customer: try row.id("owner"), since: try row.int8("purchase_date"),
                transactionID: TransactionID(try row.text("period")))
        )
    }

    /// A period's row.
    static func period(_ row: Row) throws -> (key: PeriodKey, grant: TransactionKey, customer: CustomerID) {
        (
            PeriodKey(
                environment: try row.book("environment"),
                originalTransactionID: TransactionID(try row.text("original_transaction_id")),
                item: try row.text("web_order_line_item_id")), try row.transactionKey(), try row.id("customer")
        )
    }
}
