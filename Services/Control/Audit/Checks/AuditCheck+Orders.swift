/// Orders, the tokens that prove ownership, and the catalogue that decides what is delivered.
extension AuditCheck {
    static let orders = [orderToken, siblingOrder, catalogText]

    private static let ordersMade = Subject("orders") { scope in
        "SELECT count(*) AS count FROM granting.orders WHERE \(scope.new("created_at"))"
    }

    private static let orderToken = AuditCheck(
        "orders.tokens", "every order's token is kept, for its customer and for this order", of: ordersMade,
        keys: ["order_number"]
    ) { scope in
        """
        SELECT o.order_number, format('token %s; order of %s, token of %s for order %s',
            CASE WHEN o.token IS NULL THEN 'missing' ELSE 'issued' END, o.customer,
            coalesce(t.customer::text, 'nobody'), coalesce(t.order_number, 'none')) AS problem
        FROM granting.orders o LEFT JOIN granting.tokens t ON t.app = o.app AND t.token = o.token
        WHERE o.sibling_of IS NULL AND \(scope.new("o.created_at"))
            AND (t.customer IS DISTINCT FROM o.customer OR t.order_number IS DISTINCT FROM o.order_number)
        """
    }

    private static let siblingOrder = AuditCheck(
        "orders.siblings", "a second purchase's order belongs to the customer of the order it stands beside",
        of: Subject("sibling orders") { scope in
            """
            SELECT count(*) AS count FROM granting.orders WHERE sibling_of IS NOT NULL AND \(scope.new("created_at"))
            """
        }, keys: ["order_number"]
    ) { scope in
        """
        SELECT s.order_number, format('of %s, beside order %s of %s', s.customer, s.sibling_of,
            coalesce(o.customer::text, 'nobody')) AS problem
        FROM granting.orders s LEFT JOIN granting.orders o ON o.order_number = s.sibling_of
        WHERE s.sibling_of IS NOT NULL AND \(scope.new("s.created_at"))
            AND (o.customer IS DISTINCT FROM s.customer OR o.app IS DISTINCT FROM s.app
                OR s.delivered_transaction IS NULL)
        """
    }

    private static let catalogText = AuditCheck(
        "catalog.digest", "every catalogue that was ever in force is what was imported",
        of: Subject("versions") { _ in "SELECT count(*) AS count FROM granting.catalog_versions" },
        keys: ["app", "version"]
    ) { _ in
        """
        SELECT app, version, 'the text is not the one imported' AS problem FROM granting.catalog_versions
        WHERE sha256(convert_to(definition::text, 'UTF8')) <> digest
        """
    }
}
