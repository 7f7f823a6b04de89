-- Sweeping what was bought in the sandbox out of the wallets.

ALTER TABLE granting.grants ADD COLUMN swept_at timestamptz
    CONSTRAINT grants_swept_sandbox CHECK (swept_at IS NULL OR environment = 'Sandbox');
COMMENT ON COLUMN granting.grants.swept_at IS
    'When a sandbox purchase was swept: it gives no entitlement from then on. Never set in production.';
GRANT UPDATE (swept_at) ON granting.grants TO purser_granting;

ALTER TABLE granting.draws DROP CONSTRAINT draws_kind_check;
ALTER TABLE granting.draws ADD CONSTRAINT draws_kind_check CHECK (kind IN ('spend', 'clawback', 'repayment', 'sweep'));
ALTER TABLE granting.draws DROP CONSTRAINT draws_check;
ALTER TABLE granting.draws ADD CONSTRAINT draws_of_refunds
    CHECK ((kind IN ('spend', 'sweep')) = (refunded_transaction IS NULL));
ALTER TABLE granting.draws DROP CONSTRAINT draws_check2;
ALTER TABLE granting.draws ADD CONSTRAINT draws_only_refunds_return
    CHECK (kind IN ('clawback', 'repayment') OR amount > 0);

-- The second net: whatever the code decides, a sweep takes nothing from production.
CREATE FUNCTION granting.refuse_sweep() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
    IF EXISTS (SELECT FROM granting.lots l WHERE l.id = NEW.lot AND l.environment <> 'Sandbox') THEN
        RAISE EXCEPTION 'a sweep takes from sandbox lots only' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$function$;
REVOKE EXECUTE ON FUNCTION granting.refuse_sweep() FROM PUBLIC;
CREATE TRIGGER sandbox_only BEFORE INSERT ON granting.draws FOR EACH ROW
    WHEN (NEW.kind = 'sweep') EXECUTE FUNCTION granting.refuse_sweep();

ALTER TABLE granting.ledger DROP CONSTRAINT ledger_source_type_check;
ALTER TABLE granting.ledger ADD CONSTRAINT ledger_source_type_check CHECK (source_type IN
    ('APPLE_IAP', 'APPLE_REFUND', 'APPLE_REFUND_REVERSED', 'DEBT_REPAYMENT', 'DEBT_REPAYMENT_RETURNED', 'APP_USAGE',
    'SANDBOX_SWEEP'));
ALTER TABLE granting.ledger ADD CONSTRAINT ledger_sweeps_sandbox
    CHECK (source_type <> 'SANDBOX_SWEEP' OR (environment = 'Sandbox' AND direction = 'OUT'));
COMMENT ON TABLE granting.ledger IS
    'The books: one line a change, with the balance after it. Appended to, never changed, by nobody. source_id is <transactionId>/<revision> for purchases, <owed for>/<paid by>/<revision> for repayments, <transactionId>/<sweep> for sweeps of the sandbox, the caller''s id for spends (environment empty).';

CREATE TABLE granting.sweeps (
    cause uuid PRIMARY KEY,
    app text COLLATE "C" NOT NULL CHECK (app <> ''),
    sweep uuid NOT NULL,
    before bigint NOT NULL,
    after_transaction text COLLATE "C",
    actor text NOT NULL CHECK (actor <> ''),
    answer json NOT NULL,
    swept_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE granting.sweeps IS
    'Each page of each sweep: who had it made, what was granted before (ms since 1970), and what was answered.';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON granting.sweeps
    FOR EACH STATEMENT EXECUTE FUNCTION granting.refuse_change();

REVOKE ALL ON granting.sweeps FROM PUBLIC;
GRANT SELECT ON granting.sweeps TO purser_granting, purser_auditor;
GRANT INSERT ON granting.sweeps TO purser_granting;
