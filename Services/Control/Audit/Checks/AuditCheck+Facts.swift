/// What was told to others: every change of state was announced once, and nothing was announced that is not so.
extension AuditCheck {
    static let facts = [
        grantedFact, clawedBackFact, heldFact, spendFact, orderFact, catalogFact, verifiedFact,
        factIdentity("granting"),
        factIdentity("verification"), factIdentity("intake"),
    ]

    private static func told(_ type: String, in schema: String = "granting") -> Subject {
        Subject(type) { scope in
            """
            SELECT count(*) AS count FROM \(schema).facts
            WHERE type = '\(type)' AND \(scope.facts("sequence", in: schema))
            """
        }
    }

    /// Both directions: a cause without its fact (a zombie), and a fact without its cause (a ghost).
    ///
    /// - Parameters:
    ///   - causes: a query of `key`, `revision` and `cause`: what must have been told.
    ///   - newCauses: the same, only those that are new.
    static func announced(
        _ name: String, _ proves: String, _ type: String, in schema: String = "granting",
        causes: String, new newCauses: @escaping @Sendable (AuditScope) -> String
    ) -> AuditCheck {
        AuditCheck(name, proves, of: told(type, in: schema), keys: ["key", "revision"]) { scope in
            """
            SELECT c.key, c.revision, 'not announced' AS problem FROM (\(causes)) c
            WHERE \(newCauses(scope)) AND NOT EXISTS (SELECT FROM \(schema).facts f WHERE f.type = '\(type)'
                AND \(scope.facts("f.sequence", in: schema)) AND f.key = c.key AND f.revision = c.revision
                AND f.cause = c.cause)
            UNION ALL
            SELECT f.key, f.revision, 'announced, and not so' FROM \(schema).facts f
            WHERE f.type = '\(type)' AND \(scope.facts("f.sequence", in: schema))
                AND NOT EXISTS (SELECT FROM (\(causes)) c
                WHERE f.key = c.key AND f.revision = c.revision AND f.cause = c.cause)
            """
        }
    }

    private static let grantedFact = announced(
        "facts.granted", "every grant was announced, and every grant that was announced exists", "purchase.granted",
        causes: """
            SELECT environment || '/' || transaction_id AS key, 0::bigint AS revision, cause, granted_at AS made
            FROM granting.grants
            """
    ) { $0.new("c.made") }

    private static let clawedBackFact = announced(
        "facts.clawedback", "every change of a refund was announced, and every one that was announced exists",
        "purchase.clawedback",
        causes: """
            SELECT l.environment || '/' || \(namedTransaction) AS key, \(namedRevision) AS revision, l.cause,
                min(l.created_at) AS made
            FROM granting.ledger l WHERE l.source_type IN ('APPLE_REFUND', 'APPLE_REFUND_REVERSED') GROUP BY 1, 2, 3
            UNION ALL
            -- What gave an entitlement only has no line in the ledger: its grant counts the changes.
            SELECT f.key, f.revision, f.cause, f.created_at
            FROM granting.facts f JOIN granting.grants g ON f.key = g.environment || '/' || g.transaction_id
            WHERE f.type = 'purchase.clawedback' AND f.revision BETWEEN 1 AND g.revision
                AND NOT EXISTS (SELECT FROM granting.lots l
                    WHERE l.environment = g.environment AND l.transaction_id = g.transaction_id)
            """
    ) { $0.new("c.made") }

    private static let spendFact = announced(
        "facts.spends", "every decided spend was announced, and every one that was announced exists", "spend.decided",
        causes: """
            SELECT customer::text || '/' || source_id AS key, 0::bigint AS revision, cause, decided_at AS made
            FROM granting.spends
            """
    ) { $0.new("c.made") }

    private static let orderFact = announced(
        "facts.orders", "every order was announced, and every one that was announced exists", "order.created",
        causes: """
            SELECT order_number AS key, 0::bigint AS revision, cause, created_at AS made FROM granting.orders
            WHERE sibling_of IS NULL
            """
    ) { $0.new("c.made") }

    private static let catalogFact = announced(
        "facts.catalog", "every import was announced, and every one that was announced exists", "catalog.imported",
        causes: "SELECT app AS key, version AS revision, cause, imported_at AS made FROM granting.catalog_versions"
    ) { $0.new("c.made") }

    /// A statement handed in again is verified and told again, so there may be more facts than evidence.
    private static let verifiedFact = AuditCheck(
        "facts.verified", "every statement was passed on, and every one that was passed on is evidence",
        of: told("purchase.verified", in: "verification"), keys: ["key", "message"]
    ) { scope in
        """
        SELECT e.environment || '/' || e.transaction_id AS key, e.message, 'not passed on' AS problem
        FROM verification.evidence e WHERE \(scope.new("e.verified_at")) AND NOT EXISTS (
            SELECT FROM verification.facts f WHERE \(scope.facts("f.sequence", in: "verification"))
                AND f.cause = e.message AND f.type = 'purchase.verified'
                AND f.key = e.environment || '/' || e.transaction_id)
        UNION ALL
        SELECT f.key, f.cause, 'passed on without evidence' FROM verification.facts f
        WHERE f.type = 'purchase.verified' AND \(scope.facts("f.sequence", in: "verification")) AND NOT EXISTS (
            SELECT FROM verification.evidence e WHERE e.environment || '/' || e.transaction_id = f.key)
            AND NOT EXISTS (SELECT FROM verification.receipt_purchases p
                WHERE p.environment || '/' || p.transaction_id = f.key)
        UNION ALL
        SELECT encode(r.content_hash, 'hex'), r.message, 'a receipt that was not passed on' FROM verification.receipts r
        WHERE \(scope.new("r.verified_at")) AND NOT EXISTS (SELECT FROM verification.facts f
            WHERE \(scope.facts("f.sequence", in: "verification")) AND f.cause = r.message
                AND f.type = 'purchase.verified')
        """
    }

    private static let heldFact = AuditCheck(
        "facts.held", "every purchase that waits was announced with the reason for which it waits",
        of: told("purchase.held"), keys: ["key"]
    ) { scope in
        """
        SELECT t.environment || '/' || t.transaction_id AS key, format('waits for %s, announced %s', t.held_reason,
            coalesce(f.reason, 'nothing')) AS problem
        FROM granting.transactions t
        LEFT JOIN (SELECT DISTINCT ON (key) key, body::json->>'reason' AS reason FROM granting.facts
            WHERE type = 'purchase.held' ORDER BY key, sequence DESC) f
            ON f.key = t.environment || '/' || t.transaction_id
        WHERE t.held_reason IS NOT NULL AND f.reason IS DISTINCT FROM t.held_reason
            AND \(scope.purchases("t.environment", "t.transaction_id"))
        UNION ALL
        SELECT f.key, 'announced, and there is no such transaction' FROM granting.facts f
        WHERE f.type = 'purchase.held' AND \(scope.facts("f.sequence", in: "granting")) AND NOT EXISTS (
            SELECT FROM granting.transactions t WHERE t.environment || '/' || t.transaction_id = f.key)
        """
    }

    /// An id is made of type, key, revision and cause (UUID version 8 of their SHA-256), so that every copy has it.
    private static func factIdentity(_ schema: String) -> AuditCheck {
        AuditCheck(
            "facts.ids.\(schema)",
            "every fact has the id that type, key, revision and cause make: no two copies differ",
            of: Subject("facts") { scope in
                "SELECT count(*) AS count FROM \(schema).facts WHERE \(scope.facts("sequence", in: schema))"
            }, keys: ["id", "type", "key"]
        ) { scope in
            """
            SELECT f.id, f.type, f.key, 'the id is not that of this fact' AS problem
            FROM (SELECT *, substring(sha256(convert_to(concat_ws(E'\\n', type, key, revision, cause), 'UTF8')) FOR 16)
                    AS digest
                FROM \(schema).facts WHERE \(scope.facts("sequence", in: schema))) f
            WHERE f.id <> encode(set_byte(set_byte(f.digest, 6, get_byte(f.digest, 6) & 15 | 128),
                8, get_byte(f.digest, 8) & 63 | 128), 'hex')::uuid
            """
        }
    }

    /// Seconds that facts may always wait: the sweep takes what is 15 s old, and looks every 5 s.
    static let sweepPatience = 25

    /// Batches whose facts were not published within `grace` seconds, which the sweep should have done long ago, and
    /// batches that name facts which do not exist.
    static func unannounced(_ schema: String, grace: Int) -> AuditCheck {
        AuditCheck(
            "facts.unannounced.\(schema)", "no fact waits longer than \(grace) s to be published",
            of: Subject("batches") { _ in "SELECT count(*) AS count FROM \(schema).unannounced" }, keys: ["batch"]
        ) { _ in
            """
            SELECT u.id AS batch, format('%s fact(s) wait for %s s', cardinality(u.facts),
                extract(epoch FROM clock_timestamp() - u.created_at)::bigint) AS problem
            FROM \(schema).unannounced u WHERE u.created_at < clock_timestamp() - make_interval(secs => \(grace))
            UNION ALL
            SELECT u.id, format('names %s fact(s) that do not exist', count(*))
            FROM \(schema).unannounced u CROSS JOIN LATERAL unnest(u.facts) AS n (fact)
            WHERE NOT EXISTS (SELECT FROM \(schema).facts f WHERE f.id = n.fact) GROUP BY u.id
            """
        }
    }
}
