import Messages
import Postgres

/// `granting.consents`.
enum ConsentTable {
    /// The newest word of customers, and, before it, the words of these messages.
    static func read(_ customers: [CustomerID], _ causes: [MessageID]) -> Statement {
        Statement(
            """
            SELECT n.customer, n.revision, n.is_given, n.terms_version, n.requested_at, n.cause
            FROM unnest($2::uuid[]) AS c (cause) JOIN granting.consents n ON n.cause = c.cause
            UNION
            SELECT n.customer, n.revision, n.is_given, n.terms_version, n.requested_at, n.cause
            FROM unnest($1::uuid[]) AS c (customer)
            CROSS JOIN LATERAL (SELECT * FROM granting.consents l WHERE l.customer = c.customer
                ORDER BY l.revision DESC LIMIT 1) AS n
            ORDER BY customer, revision
            """, [.uuids(customers), .uuids(causes)])
    }

    /// Stores new words.
    static func insert(_ consents: [Consent]) -> Statement {
        Statement(
            """
            INSERT INTO granting.consents (customer, revision, is_given, terms_version, requested_at, cause)
            SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::boolean[], $4::text[], $5::bigint[], $6::uuid[])
            """,
            [
                .uuids(consents.map(\.customer)), .int8Array(consents.map(\.revision)),
                .boolArray(consents.map(\.isGiven)), .textArray(consents.map(\.termsVersion)),
                .int8Array(consents.map(\.requestedAt)), .uuids(consents.map(\.cause)),
            ])
    }

    /// A user's word in force, for the user.
    static func read(_ question: ConsentRequested) -> Statement {
        Statement(
            """
            SELECT n.is_given, n.terms_version, n.requested_at FROM granting.customers c
            CROSS JOIN LATERAL (SELECT * FROM granting.consents l WHERE l.customer = c.customer
                ORDER BY l.revision DESC LIMIT 1) AS n
            WHERE c.app = $1 AND c.user_id = $2
            """, [.text(question.app.rawValue), .text(question.userID.rawValue)])
    }

    /// The answer to that question.
    static func answer(_ rows: Rows) throws -> ConsentAnswered {
        guard let row = rows.first else { return ConsentAnswered(isGiven: false, termsVersion: nil, changedAt: nil) }
        return ConsentAnswered(
            isGiven: try row.bool("is_given"), termsVersion: try row.optionalText("terms_version"),
            changedAt: try row.int8("requested_at"))
    }

    /// A word's row.
    static func consent(_ row: Row) throws -> Consent {
        Consent(
            customer: try row.id("customer"), revision: try row.int8("revision"), isGiven: try row.bool("is_given"),
            termsVersion: try row.optionalText("terms_version"), requestedAt: try row.int8("requested_at"),
            cause: try row.id("cause"))
    }
}
