/// Purchases of other customers, as they lie in the tables after a year; written by SQL, because making them one by one
/// would take longer than all that is measured.
enum GrantFilling {
    /// Customers, transactions, grants, accounts, lots and ledger lines. No statistics are made: plans must be right
    /// without them.
    static func script(rows: Int) -> String {
        """
        INSERT INTO granting.customers (app, user_id)
        SELECT 'bench', 'old-user-' || n FROM generate_series(1, \(rows / 5)) n;
        CREATE TEMPORARY TABLE owners AS
            SELECT customer, row_number() OVER () - 1 AS place FROM granting.customers;
        INSERT INTO granting.accounts (customer, asset, balance, revision)
        SELECT customer, 'COINS', 300, 5 FROM owners;
        INSERT INTO granting.transactions (environment, transaction_id, app, original_transaction_id, bundle_id,
            product_id, product_type, ownership, quantity, purchase_date, signed_date, revoked_share, payload_hash, owner,
            delivered_by, first_cause)
        SELECT 'Production', '1' || n, 'bench', '1' || n, 'com.example.bench', 'coins_60', 'Consumable', 'PURCHASED', 1,
            0, 0, 0, '', o.customer, '1' || n, gen_random_uuid()
        FROM generate_series(100000000, 100000000 + \(rows) - 1) n JOIN owners o ON o.place = n % \(rows / 5);
        INSERT INTO granting.grants (environment, transaction_id, app, customer, product_id, product_version, quantity,
            kind, original_transaction_id, cause)
        SELECT environment, transaction_id, app, owner, product_id, 1, 1, 'consumable', transaction_id, first_cause
        FROM granting.transactions;
        INSERT INTO granting.lots (customer, asset, environment, transaction_id, amount, remaining)
        SELECT owner, 'COINS', environment, transaction_id, 60, 60 FROM granting.transactions;
        INSERT INTO granting.ledger (customer, asset, direction, amount, balance_after, source_type, source_id,
            environment, cause)
        SELECT owner, 'COINS', 'IN', 60, 60, 'APPLE_IAP', transaction_id || '/1', environment, first_cause
        FROM granting.transactions;
        """
    }
}
