import Messages
import Pipeline
import Postgres

/// Writing accounts, lots, draws, ledger, debts and spends, each kind of row by one statement.
extension WalletTables {
    /// Saves balances.
    static func save(_ accounts: [(key: AccountKey, account: Account)]) -> Statement {
        Statement(
            """
            INSERT INTO granting.accounts AS a (customer, asset, balance, revision, spent)
            SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
            ON CONFLICT (customer, asset) DO UPDATE SET balance = EXCLUDED.balance, revision = EXCLUDED.revision,
                spent = EXCLUDED.spent
            """,
            [
                .uuids(accounts.map(\.key.customer)), .texts(accounts.map(\.key.asset)),
                .int8Array(accounts.map(\.account.balance)), .int8Array(accounts.map(\.account.revision)),
                .int8Array(accounts.map(\.account.spent)),
            ])
    }

    /// Stores new lots in the order in which they are to be spent.
    static func insert(_ lots: [Lot]) -> Statement {
        Statement(
            """
            INSERT INTO granting.lots (customer, asset, environment, transaction_id, amount, remaining, is_frozen)
            SELECT n.customer, n.asset, n.environment, n.transaction_id, n.amount, n.remaining, n.is_frozen
            FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::boolean[])
                WITH ORDINALITY AS n (customer, asset, environment, transaction_id, amount, remaining, is_frozen, place)
            ORDER BY n.place
            """,
            [
                .uuids(lots.map(\.customer)), .texts(lots.map(\.key.asset)),
                .textArray(lots.map(\.key.purchase.environment.rawValue)),
                .texts(lots.map(\.key.purchase.transactionID)), .int8Array(lots.map(\.amount)),
                .int8Array(lots.map(\.remaining)), .boolArray(lots.map(\.isFrozen)),
            ])
    }

    /// Saves what is left of lots.
    static func update(_ lots: [Lot]) -> Statement {
        Statement(
            """
            UPDATE granting.lots AS l SET remaining = n.remaining, is_frozen = n.is_frozen
            FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::boolean[])
                AS n (environment, transaction_id, asset, remaining, is_frozen)
            WHERE l.environment = n.environment AND l.transaction_id = n.transaction_id AND l.asset = n.asset
            """,
            SQLValue.keys(lots.map(\.key.purchase)) + [
                .texts(lots.map(\.key.asset)), .int8Array(lots.map(\.remaining)), .boolArray(lots.map(\.isFrozen)),
            ])
    }

    /// Stores draws in the order they happened; their lots are stored by now.
    static func insert(_ draws: [Draw]) -> Statement {
        Statement(
            """
            INSERT INTO granting.draws (lot, kind, source_id, refunded_environment, refunded_transaction, amount)
            SELECT l.id, n.kind, n.source_id, n.refunded_environment, n.refunded_transaction, n.amount
            FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[])
                WITH ORDINALITY AS n (environment, transaction_id, asset, kind, source_id, refunded_environment,
                    refunded_transaction, amount, place)
            JOIN granting.lots l ON l.environment = n.environment AND l.transaction_id = n.transaction_id
                AND l.asset = n.asset
            ORDER BY n.place
            """,
            SQLValue.keys(draws.map(\.lot.purchase)) + [
                .texts(draws.map(\.lot.asset)), .textArray(draws.map(\.kind.rawValue)),
                .textArray(draws.map(\.sourceID)), .textArray(draws.map { $0.refunded?.environment.rawValue }),
                .textArray(draws.map { $0.refunded?.transactionID.rawValue }), .int8Array(draws.map(\.amount)),
            ])
    }

    /// Appends to the ledger in the order it happened.
    static func append(_ rows: [LedgerRow]) -> Statement {
        Statement(
            """
            INSERT INTO granting.ledger (customer, asset, direction, amount, balance_after, source_type, source_id,
                environment, remark, cause)
            SELECT n.customer, n.asset, n.direction, n.amount, n.balance_after, n.source_type, n.source_id,
                n.environment, n.remark, n.cause
            FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[],
                $8::text[], $9::text[], $10::uuid[])
                WITH ORDINALITY AS n (customer, asset, direction, amount, balance_after, source_type, source_id,
                    environment, remark, cause, place)
            ORDER BY n.place
            """,
            [
                .uuids(rows.map(\.account.customer)), .texts(rows.map(\.account.asset)),
                .textArray(rows.map(\.direction.rawValue)), .int8Array(rows.map(\.amount)),
                .int8Array(rows.map(\.balanceAfter)), .textArray(rows.map(\.source.rawValue)),
                .textArray(rows.map(\.sourceID)), .textArray(rows.map { $0.environment?.rawValue ?? "" }),
                .textArray(rows.map(\.remark)), .uuids(rows.map(\.cause)),
            ])
    }

    /// Saves debts.
    static func save(_ debts: [Debt]) -> Statement {
        Statement(
            """
            INSERT INTO granting.debts AS d (environment, transaction_id, asset, customer, amount, settled)
            SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::uuid[], $5::bigint[], $6::bigint[])
            ON CONFLICT (environment, transaction_id, asset)
                DO UPDATE SET amount = EXCLUDED.amount, settled = EXCLUDED.settled, updated_at = clock_timestamp()
            """,
            SQLValue.keys(debts.map(\.key.purchase)) + [
                .texts(debts.map(\.key.asset)), .uuids(debts.map(\.customer)), .int8Array(debts.map(\.amount)),
                .int8Array(debts.map(\.settled)),
            ])
    }

    /// Stores decided spends.
    static func insert(_ spends: [Spend]) -> Statement {
        Statement(
            """
            INSERT INTO granting.spends (customer, source_id, app, asset, amount, outcome, code, deadline, balance_after,
                cause)
            SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[],
                $8::bigint[], $9::bigint[], $10::uuid[])
            """,
            [
                .uuids(spends.map(\.key.customer)), .textArray(spends.map(\.key.sourceID)), .texts(spends.map(\.app)),
                .texts(spends.map(\.asset)), .int8Array(spends.map(\.amount)),
                .textArray(spends.map(\.outcome.rawValue)), .textArray(spends.map { $0.code?.rawValue }),
                .int8Array(spends.map(\.deadline)), .int8Array(spends.map(\.balanceAfter)), .uuids(spends.map(\.cause)),
            ])
    }
}
