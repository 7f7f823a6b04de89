-- What does not agree, as cases. Times are milliseconds since 1970 by the service's clock, so that all of them compare.

CREATE TABLE reconciliation.findings (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('purchase_undecided', 'purchase_held', 'purchase_unclaimed',
        'messages_parked', 'journal_gap', 'stream_replaced', 'fact_unreadable',
        'notification_missed', 'notification_unapplied', 'refund_missed', 'purchase_missed', 'apple_unreachable',
        'certificate_expiring', 'certificate_new', 'consumption_deadline',
        'balance_differs', 'lots_differ', 'amount_differs', 'order_behind', 'evidence_missing', 'refund_late',
        'sales_differ')),
    subject text COLLATE "C" NOT NULL CHECK (subject <> ''),
    severity text COLLATE "C" NOT NULL CHECK (severity IN ('notice', 'warning', 'critical')),
    state text COLLATE "C" NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'redriven', 'resolved', 'accepted')),
    app text COLLATE "C",
    environment text COLLATE "C" CHECK (environment IN ('Production', 'Sandbox')),
    transaction_id text COLLATE "C",
    order_number text COLLATE "C",
    evidence jsonb NOT NULL,
    opened_at bigint NOT NULL,
    seen_at bigint NOT NULL,
    attempts bigint NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    next_at bigint NOT NULL,
    ended_at bigint,
    CHECK ((environment IS NULL) = (transaction_id IS NULL)),
    CHECK ((state IN ('resolved', 'accepted')) = (ended_at IS NOT NULL)),
    CHECK (state <> 'redriven' OR attempts > 0)
);
-- One case a cause. An accepted one stands for its cause until that is gone.
CREATE UNIQUE INDEX findings_one_a_cause ON reconciliation.findings (kind, subject) WHERE state <> 'resolved';
CREATE INDEX findings_due ON reconciliation.findings (kind, next_at) WHERE state IN ('open', 'redriven');
CREATE INDEX findings_transaction ON reconciliation.findings (transaction_id) WHERE transaction_id IS NOT NULL;
COMMENT ON TABLE reconciliation.findings IS
    'What does not agree: a case for each cause, with what was seen and what was done. Never two open ones for one cause.';
COMMENT ON COLUMN reconciliation.findings.subject IS
    'What it is about: environment and transaction id, a queue, a place of the stream.';
COMMENT ON COLUMN reconciliation.findings.next_at IS 'When its repair is tried next.';

CREATE TABLE reconciliation.finding_events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    finding bigint NOT NULL REFERENCES reconciliation.findings,
    at bigint NOT NULL,
    event text COLLATE "C" NOT NULL CHECK (event IN ('opened', 'redriven', 'resolved', 'accepted')),
    actor text NOT NULL,
    reason text NOT NULL,
    cause uuid UNIQUE
);
CREATE INDEX finding_events_finding ON reconciliation.finding_events (finding);
COMMENT ON TABLE reconciliation.finding_events IS
    'What was done about findings, by whom and why; cause is the message of an operator. Appended to, never changed.';

-- Verified purchases that were held or unclaimed when they were looked at: looked at again until they are delivered.
CREATE TABLE reconciliation.waiting (
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('Production', 'Sandbox')),
    transaction_id text COLLATE "C" NOT NULL,
    app text COLLATE "C" NOT NULL,
    order_number text COLLATE "C",
    has_submitter boolean NOT NULL,
    verified_at bigint NOT NULL,
    next_at bigint NOT NULL,
    PRIMARY KEY (environment, transaction_id)
);
CREATE INDEX waiting_due ON reconciliation.waiting (next_at);
COMMENT ON TABLE reconciliation.waiting IS
    'Verified purchases that wait for a reason or an owner, and when they are looked at again.';

CREATE TABLE reconciliation.cursors (
    name text COLLATE "C" PRIMARY KEY,
    value bigint NOT NULL CHECK (value >= 0),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO reconciliation.cursors (name, value) VALUES ('evidence', 0);
COMMENT ON TABLE reconciliation.cursors IS 'How far another service''s records have been compared.';

CREATE TABLE reconciliation.facts (
    sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL UNIQUE,
    cause uuid NOT NULL,
    key text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    type text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    app text COLLATE "C",
    environment text COLLATE "C",
    correlation_id text NOT NULL,
    occurred_at bigint NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX facts_cause ON reconciliation.facts (cause);
COMMENT ON TABLE reconciliation.facts IS
    'What this service asked others to do because an operator said so, append-only; every published copy is read from here.';

CREATE TABLE reconciliation.unannounced (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    facts uuid[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE reconciliation.unannounced IS
    'One row a batch whose facts may not have been published yet; a sweep publishes what stays here.';

CREATE FUNCTION reconciliation.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
    RAISE EXCEPTION '%.% is append-only: % is refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$function$;
REVOKE EXECUTE ON FUNCTION reconciliation.refuse_change() FROM PUBLIC;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reconciliation.finding_events
    FOR EACH STATEMENT EXECUTE FUNCTION reconciliation.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reconciliation.facts
    FOR EACH STATEMENT EXECUTE FUNCTION reconciliation.refuse_change();
-- All but what happens to a case.
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF id, kind, subject, app, environment, transaction_id,
    order_number, opened_at ON reconciliation.findings
    FOR EACH STATEMENT EXECUTE FUNCTION reconciliation.refuse_change();

REVOKE ALL ON ALL TABLES IN SCHEMA reconciliation FROM PUBLIC;
GRANT SELECT ON reconciliation.schema_migrations TO PUBLIC;
GRANT SELECT, INSERT ON reconciliation.findings, reconciliation.finding_events, reconciliation.facts
    TO purser_reconciliation;
GRANT UPDATE (severity, state, evidence, seen_at, attempts, next_at, ended_at) ON reconciliation.findings
    TO purser_reconciliation;
GRANT SELECT, INSERT, DELETE ON reconciliation.waiting, reconciliation.unannounced TO purser_reconciliation;
GRANT UPDATE (next_at) ON reconciliation.waiting TO purser_reconciliation;
GRANT SELECT ON reconciliation.cursors TO purser_reconciliation;
GRANT UPDATE (value, updated_at) ON reconciliation.cursors TO purser_reconciliation;
GRANT SELECT ON ALL TABLES IN SCHEMA reconciliation TO purser_auditor;
