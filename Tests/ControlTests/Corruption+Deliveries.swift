/// Grants and what they stand for, spoiled by hand.
extension Corruption {
    static let deliveries = [
        Corruption(
            "a grant twice (INV1)",
            """
            ALTER TABLE granting.grants DROP CONSTRAINT grants_pkey CASCADE;
            INSERT INTO granting.grants SELECT * FROM granting.grants WHERE transaction_id = '1'
            """, ["grants.once", "lots.grants"], line: "transaction_id 1; granted 2 times"),
        Corruption(
            "a non-consumable twice",
            """
            DROP INDEX granting.grants_non_consumable;
            INSERT INTO granting.grants SELECT environment, '5', app, customer, product_id, product_version, quantity, kind,
                original_transaction_id, web_order_line_item_id, order_number, cause, revision, applied_share, granted_at
            FROM granting.grants WHERE transaction_id = '4'
            """, ["facts.granted", "grants.once", "grants.transactions", "lots.grants"],
            line: "transaction_id 4; non-consumable granted 2 times"),
        Corruption(
            "a card for ever sold twice",
            "UPDATE granting.product_versions SET entitlement = 'card' WHERE product_id = 'forever'", ["grants.cards"],
            line: "has card for ever by 30 too"),
        Corruption(
            "a card that waits for nothing",
            "UPDATE granting.product_versions SET entitlement_days = 30 WHERE product_id = 'card'", ["grants.cards"],
            line: "transaction_id 31; waits because it is owned, and is not"),
        Corruption(
            "a line for another wallet",
            """
            UPDATE granting.ledger SET source_id = '1/7' WHERE source_id = '1/0'
            """, ["wallets.causes"], line: "APPLE_IAP 1/7: its cause says otherwise"),
        Corruption(
            "a transaction's owner", "UPDATE granting.transactions SET owner = \(bob) WHERE transaction_id = '3'",
            ["grants.transactions"], line: "said to be delivered by 3"),
        Corruption(
            "a delivery without grant",
            "UPDATE granting.transactions SET delivered_by = '99', held_reason = NULL WHERE transaction_id = '8'",
            ["grants.transactions"], line: "there is no such grant"),
        Corruption(
            "an order's delivery",
            """
            UPDATE granting.orders SET delivered_transaction = NULL, delivered_environment = NULL
            WHERE order_number = 'A1'
            """, ["grants.orders"], line: "order none, grant names A1, transaction names A1"),
        Corruption(
            "a token's customer", "UPDATE granting.tokens SET customer = \(bob) WHERE order_number = 'A2'",
            ["orders.tokens"], line: "order_number A2; token issued"),
        Corruption(
            "a sibling order's customer",
            "UPDATE granting.orders SET customer = \(bob) WHERE sibling_of IS NOT NULL",
            ["grants.orders", "orders.siblings"], line: "beside order A1"),
        Corruption(
            "a catalogue", "UPDATE granting.catalog_versions SET digest = sha256('x')", ["catalog.digest"],
            line: "app cloudpc; version 1"),
    ]
}
