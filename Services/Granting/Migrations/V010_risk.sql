-- Limits on refunds within 30 days, and the operator's word that ends them early.

ALTER TABLE granting.spends DROP CONSTRAINT spends_outcome_check;
ALTER TABLE granting.spends ADD CONSTRAINT spends_outcome_check
    CHECK (outcome IN ('spent', 'not_enough', 'deadline_passed', 'unknown_asset', 'restricted'));

-- Refunds of a customer, few in number. Statements change rarely, so updates of other columns stay HOT.
CREATE INDEX transactions_refunded ON granting.transactions (owner, revocation_date)
    WHERE revoked_share > 0 AND owner IS NOT NULL;

CREATE TABLE granting.risk_clearances (
    cause uuid PRIMARY KEY,
    customer uuid NOT NULL REFERENCES granting.customers,
    actor text NOT NULL CHECK (actor <> ''),
    reason text NOT NULL CHECK (reason <> ''),
    cleared_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX risk_clearances_customer ON granting.risk_clearances (customer, cleared_at);
COMMENT ON TABLE granting.risk_clearances IS
    'An operator looked at a customer: refunds before cleared_at count for no limit any more. Appended to, never changed.';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON granting.risk_clearances
    FOR EACH STATEMENT EXECUTE FUNCTION granting.refuse_change();

REVOKE ALL ON granting.risk_clearances FROM PUBLIC;
GRANT SELECT ON granting.risk_clearances TO purser_granting, purser_auditor;
GRANT INSERT ON granting.risk_clearances TO purser_granting;
