import Messages
import Pipeline
import Postgres

/// `granting.identities`, `.starter_claims`, and the tokens of users.
enum StarterTables {
    /// The tokens of users, unlocked: they change only under their customer's lock.
    static func userTokens(_ customers: [CustomerID]) -> Statement {
        Statement(
            """
            SELECT app, token, customer, order_number FROM granting.tokens
            WHERE customer = ANY($1::uuid[]) AND order_number IS NULL
            """, [.uuids(customers)])
    }

    /// Stores tokens of users.
    static func insert(_ tokens: [(key: TokenKey, customer: CustomerID)]) -> Statement {
        Statement(
            """
            INSERT INTO granting.tokens (app, token, customer)
            SELECT * FROM unnest($1::text[], $2::uuid[], $3::uuid[])
            """,
            [.texts(tokens.map(\.key.app)), .uuids(tokens.map(\.key.token)), .uuids(tokens.map(\.customer))])
    }

    /// Who customers are to starter offers.
    static func identities(_ customers: [CustomerID]) -> Statement {
        Statement(
            "SELECT customer, key_id, hash FROM granting.identities WHERE customer = ANY($1::uuid[])",
            [.uuids(customers)])
    }

    /// Stores who customers are.
    static func insert(_ identities: [CustomerIdentity]) -> Statement {
        Statement(
            """
            INSERT INTO granting.identities (customer, key_id, hash)
            SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[]) ON CONFLICT DO NOTHING
            """,
            [
                .uuids(identities.map(\.customer)), .textArray(identities.map(\.identity.keyID)),
                .textArray(identities.map(\.identity.hash)),
            ])
    }

    /// Inserts the rows of offers that are missing, unused, in key order: what can be locked.
    static func insert(_ keys: [StarterKey]) -> Statement {
        Statement(
            """
            INSERT INTO granting.starter_claims (app, environment, offer, key_id, hash)
            SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) ON CONFLICT DO NOTHING
            """, values(keys))
    }

    /// Locks the rows of offers in key order.
    static func lock(_ keys: [StarterKey]) -> Statement {
        Statement(
            """
            SELECT c.app, c.environment, c.offer, c.key_id, c.hash, c.transaction_id, c.customer
            FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
                AS k (app, environment, offer, key_id, hash)
            JOIN granting.starter_claims c ON c.app = k.app AND c.environment = k.environment AND c.offer = k.offer
                AND c.key_id = k.key_id AND c.hash = k.hash
            ORDER BY c.app, c.environment, c.offer, c.key_id, c.hash FOR NO KEY UPDATE OF c
            """, values(keys))
    }

    /// Marks offers as used up. The table refuses to let go of what is.
    static func save(_ claims: [StarterClaim]) -> Statement {
        Statement(
            """
            INSERT INTO granting.starter_claims AS c (app, environment, offer, key_id, hash, transaction_id, customer,
                claimed_at)
            SELECT n.*, clock_timestamp() FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[],
                $6::text[], $7::uuid[]) AS n
            ON CONFLICT (app, environment, offer, key_id, hash) DO UPDATE SET transaction_id = EXCLUDED.transaction_id,
                customer = EXCLUDED.customer, claimed_at = EXCLUDED.claimed_at
            """, values(claims.map(\.key)) + [.texts(claims.map(\.transaction)), .uuids(claims.map(\.customer))])
    }

    /// Who somebody is.
    static func identity(_ row: Row) throws -> CustomerIdentity {
        CustomerIdentity(
            customer: try row.id("customer"),
            identity: IdentityHash(keyID: try row.text("key_id"), hash: try row.text("hash")))
    }

    /// A row of an offer; nil if it is not used up.
    static func claim(_ row: Row) throws -> StarterClaim? {
        guard let transaction = try row.optionalText("transaction_id") else { return nil }
        return StarterClaim(
            key: StarterKey(
                app: AppID(try row.text("app")), environment: try row.book("environment"), offer: try row.text("offer"),
                identity: IdentityHash(keyID: try row.text("key_id"), hash: try row.text("hash"))),
            transaction: TransactionID(transaction), customer: try row.id("customer"))
    }

    private static func values(_ keys: [StarterKey]) -> [SQLValue] {
        [
            .texts(keys.map(\.app)), .textArray(keys.map(\.environment.rawValue)), .textArray(keys.map(\.offer)),
            .textArray(keys.map(\.identity.keyID)), .textArray(keys.map(\.identity.hash)),
        ]
    }
}
