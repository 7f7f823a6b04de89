-- What Apple's notifications bring: the record of refunds, debts that are paid back, flags for people.

CREATE TABLE granting.refund_statements (
    environment text COLLATE "C" NOT NULL,
    transaction_id text COLLATE "C" NOT NULL,
    signed_date bigint NOT NULL,
    payload_hash text COLLATE "C" NOT NULL,
    revoked_share bigint NOT NULL CHECK (revoked_share BETWEEN 0 AND 100000),
    revocation_date bigint,
    revocation_reason bigint,
    revocation_type text,
    revocation_percentage bigint,
    notification_type text,
    notification_uuid uuid,
    cause uuid NOT NULL,
    processed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (environment, transaction_id, signed_date, payload_hash),
    FOREIGN KEY (environment, transaction_id) REFERENCES granting.transactions,
    CHECK ((notification_type IS NULL) = (notification_uuid IS NULL))
);
COMMENT ON TABLE granting.refund_statements IS
    'Everything Apple ever signed about a refund of a purchase (times: ms since 1970), whatever order it came in. The one with the newest signed_date is in force; processed_at is when its effect was committed. Without notification: a client or reconciliation brought it.';

CREATE TABLE granting.risk_flags (
    environment text COLLATE "C" NOT NULL,
    transaction_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('debt', 'review')),
    revision bigint NOT NULL CHECK (revision >= 0),
    app text COLLATE "C" NOT NULL,
    customer uuid NOT NULL REFERENCES granting.customers,
    cause uuid NOT NULL,
    raised_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (environment, transaction_id, kind, revision),
    FOREIGN KEY (environment, transaction_id) REFERENCES granting.transactions
);
CREATE INDEX risk_flags_customer ON granting.risk_flags (customer, raised_at);
COMMENT ON TABLE granting.risk_flags IS
    'What somebody should look at: a refund left a debt, or a customer has too many refunds. revision is the change of the revoked share that raised it.';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON granting.risk_flags
    FOR EACH STATEMENT EXECUTE FUNCTION granting.refuse_change();

ALTER TABLE granting.ledger DROP CONSTRAINT ledger_source_type_check;
ALTER TABLE granting.ledger ADD CONSTRAINT ledger_source_type_check CHECK (source_type IN
    ('APPLE_IAP', 'APPLE_REFUND', 'APPLE_REFUND_REVERSED', 'DEBT_REPAYMENT', 'DEBT_REPAYMENT_RETURNED', 'APP_USAGE'));
COMMENT ON TABLE granting.ledger IS
    'The books: one line a change, with the balance after it. Appended to, never changed, by nobody. source_id is <transactionId>/<revision> for purchases, <owed for>/<paid by>/<revision> for repayments, the caller''s id for spends (environment empty).';

REVOKE ALL ON granting.refund_statements, granting.risk_flags FROM PUBLIC;
GRANT SELECT ON granting.refund_statements, granting.risk_flags TO purser_granting, purser_auditor;
GRANT INSERT ON granting.refund_statements, granting.risk_flags TO purser_granting;
-- A statement that a client brought first is completed by the notification that tells the same.
GRANT UPDATE (notification_type, notification_uuid) ON granting.refund_statements TO purser_granting;
