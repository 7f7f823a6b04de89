-- Receipts that could not be judged here, while Apple is asked about them, and what Apple said.

CREATE TABLE verification.receipt_checks (
    submission uuid PRIMARY KEY,
    sequence bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    receipt bytea,
    answer text,
    asked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    decided_at timestamptz,
    CHECK ((receipt IS NULL) = (decided_at IS NOT NULL)),
    CHECK (answer IS NULL OR decided_at IS NOT NULL)
);
COMMENT ON TABLE verification.receipt_checks IS
    'Receipts that wait for Apple''s answer, by the message that brought them; the bytes go once it is decided. '
    'Decided ones are capped: the service deletes the oldest beyond its limit.';
COMMENT ON COLUMN verification.receipt_checks.answer IS
    'What was told to the caller if it was refused; NULL: it waits, or was found genuine.';

CREATE TABLE verification.receipt_answers (
    content_hash bytea PRIMARY KEY REFERENCES verification.receipts,
    asked text COLLATE "C" NOT NULL CHECK (asked IN ('Production', 'Sandbox')),
    answer bytea NOT NULL,
    message uuid NOT NULL,
    answered_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE verification.receipt_answers IS
    'Apple''s own words about a receipt that only Apple could judge: the proof of its purchases.';

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON verification.receipt_answers
    FOR EACH STATEMENT EXECUTE FUNCTION verification.refuse_change();

GRANT SELECT, INSERT, DELETE, UPDATE (receipt, answer, decided_at) ON verification.receipt_checks
    TO purser_verification;
GRANT SELECT, INSERT ON verification.receipt_answers TO purser_verification;
GRANT SELECT ON verification.receipt_checks, verification.receipt_answers TO purser_auditor;
