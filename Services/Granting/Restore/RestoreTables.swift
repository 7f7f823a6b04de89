import Messages
import Pipeline
import Postgres

/// SQL that only a restoration needs.
enum RestoreTables {
    /// Keeps every decision out while this session lives: "GRANTCAT", which each decision takes shared.
    static let lock = CatalogTables.lockSession

    /// How many lanes of this service have a session.
    static let lanes = Statement(
        """
        SELECT count(*) AS count FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
            AND application_name LIKE 'purser-granting granting.%'
        """)

    /// Which of these facts are stored.
    static func known(_ facts: [StreamedFact]) -> Statement {
        Statement("SELECT id FROM granting.facts WHERE id = ANY($1::uuid[])", [.uuids(facts.map(\.header.id))])
    }

    /// Inserts customers that the database has forgotten, as nobody's; returns those that were.
    static func insertCustomers(_ customers: [(customer: CustomerID, app: AppID)]) -> Statement {
        Statement(
            """
            INSERT INTO granting.customers (customer, app) SELECT * FROM unnest($1::uuid[], $2::text[])
            ON CONFLICT (customer) DO NOTHING RETURNING customer
            """, [.uuids(customers.map(\.customer)), .texts(customers.map(\.app))])
    }

    /// Remembers which users restored customers are, until these come back.
    static func remember(_ users: [(customer: CustomerID, app: AppID, digest: String)]) -> Statement {
        Statement(
            """
            INSERT INTO granting.restored_customers (customer, app, digest)
            SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[]) ON CONFLICT DO NOTHING
            """,
            [.uuids(users.map(\.customer)), .texts(users.map(\.app)), .textArray(users.map(\.digest))])
    }

    /// Messages whose repayments of debts of these customers are in the ledger.
    static func repaid(_ causes: [MessageID], of customers: [CustomerID]) -> Statement {
        Statement(
            """
            SELECT DISTINCT cause FROM granting.ledger
            WHERE customer = ANY($2::uuid[]) AND source_type = 'DEBT_REPAYMENT' AND cause = ANY($1::uuid[])
            """, [.uuids(causes), .uuids(customers)])
    }

    /// Stores facts under the ids they were told with; nobody is to tell them again.
    static func insert(_ facts: [StreamedFact]) -> Statement {
        Statement(
            """
            INSERT INTO granting.facts (id, cause, key, revision, type, version, app, environment, correlation_id,
                occurred_at, body)
            SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[], $5::text[], $6::bigint[], $7::text[],
                $8::text[], $9::text[], $10::bigint[], $11::text[])
            ON CONFLICT (id) DO NOTHING
            """,
            [
                .uuids(facts.map(\.header.id)), .uuids(facts.map(\.cause)), .textArray(facts.map(\.key)),
                .int8Array(facts.map(\.revision)), .textArray(facts.map(\.header.type.rawValue)),
                .int8Array(facts.map { Int64($0.header.version) }), .texts(facts.map(\.app)),
                .textArray(facts.map { $0.header.environment?.rawValue }),
                .textArray(facts.map(\.header.correlationID)), .int8Array(facts.map(\.header.occurredAt)),
                .textArray(facts.map { String(decoding: $0.json, as: UTF8.self) }),
            ])
    }

    /// The name a customer has now means nobody, or that customer, for what was sent before.
    static func retireName(of customer: CustomerID, isErased: Bool, _ fact: StreamedFact) -> Statement {
        Statement(
            """
            INSERT INTO granting.former_users (app, digest, until, customer, cause)
            SELECT c.app, sha256(convert_to(c.app, 'UTF8') || '\\x00'::bytea || convert_to(c.user_id, 'UTF8')), $2,
                CASE WHEN $3 THEN NULL ELSE c.customer END, ($4::uuid[])[1]
            FROM granting.customers c WHERE c.customer = ANY($1::uuid[]) AND c.user_id IS NOT NULL
            ON CONFLICT DO NOTHING
            """,
            [.uuids([customer]), .int8(fact.header.occurredAt), .bool(isErased), .uuids([fact.cause])])
    }

    /// Nobody comes back as this customer.
    static func forget(_ customer: CustomerID) -> Statement {
        Statement(
            "DELETE FROM granting.restored_customers WHERE customer = ANY($1::uuid[])", [.uuids([customer])])
    }

    /// An operator's word about a customer, as far as the fact tells it.
    static func clear(_ body: RiskCleared, _ fact: StreamedFact) -> Statement {
        Statement(
            """
            INSERT INTO granting.risk_clearances (cause, customer, actor, reason, cleared_at)
            SELECT ($1::uuid[])[1], ($2::uuid[])[1], $3, 'restored from the stream; the reason is lost',
                to_timestamp($4::bigint / 1000.0)
            ON CONFLICT (cause) DO NOTHING
            """,
            [.uuids([fact.cause]), .uuids([body.customer]), .text(body.actor), .int8(fact.header.occurredAt)])
    }

    /// Restored customers whose user has another wallet here: it came to be before the restoration.
    static let rivals = Statement(
        """
        SELECT r.customer FROM granting.restored_customers r
        JOIN granting.customers c ON c.app = r.app AND c.user_id IS NOT NULL
            AND \(CustomerTables.digest("c.app", "c.user_id")) = r.digest
        """)
}
