-- What the service may do, table by table: nobody but the owner may do more. The ledger, draws, spends, facts and
-- catalogue versions can be appended to and read, never changed.

REVOKE ALL ON ALL TABLES IN SCHEMA granting FROM PUBLIC;
REVOKE ALL ON SCHEMA granting FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION granting.refuse_change() FROM PUBLIC;

GRANT USAGE ON SCHEMA granting TO purser_granting, purser_auditor;
GRANT SELECT ON ALL TABLES IN SCHEMA granting TO purser_granting, purser_auditor;

GRANT INSERT ON granting.customers, granting.tokens, granting.orders, granting.catalog_versions,
    granting.product_versions, granting.product_amounts, granting.assets, granting.transactions, granting.grants,
    granting.accounts, granting.lots, granting.draws, granting.ledger, granting.spends, granting.debts, granting.facts,
    granting.unannounced TO purser_granting;

-- Locking a row takes the right to update something of it; a customer is changed by erasure only.
GRANT UPDATE (user_id) ON granting.customers TO purser_granting;
GRANT UPDATE (delivered_environment, delivered_transaction) ON granting.orders TO purser_granting;
GRANT UPDATE (json_name, insufficient_code) ON granting.assets TO purser_granting;
GRANT UPDATE ON granting.transactions TO purser_granting;
GRANT UPDATE (revision, applied_share) ON granting.grants TO purser_granting;
GRANT UPDATE (balance, revision) ON granting.accounts TO purser_granting;
GRANT UPDATE (remaining, is_frozen) ON granting.lots TO purser_granting;
GRANT UPDATE (amount, settled, updated_at) ON granting.debts TO purser_granting;
GRANT DELETE ON granting.unannounced TO purser_granting;
