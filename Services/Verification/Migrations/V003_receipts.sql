-- Receipts of before StoreKit 2, kept as they were handed in first: the proof of every purchase that one brought.

CREATE TABLE verification.receipts (
    content_hash bytea PRIMARY KEY CHECK (octet_length(content_hash) = 32),
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('Production', 'Sandbox')),
    app text COLLATE "C" NOT NULL,
    creation_date bigint NOT NULL,
    container bytea NOT NULL,
    submitter text,
    message uuid NOT NULL,
    correlation_id text NOT NULL,
    verified_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE verification.receipts IS
    'Every distinct receipt that passed all checks, by the SHA-256 of what Apple signed in it: the container around it can be made anew by anybody.';

CREATE TABLE verification.receipt_purchases (
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('Production', 'Sandbox')),
    transaction_id text COLLATE "C" NOT NULL CHECK (transaction_id ~ '^[0-9]{1,20}$'),
    content_hash bytea NOT NULL REFERENCES verification.receipts,
    PRIMARY KEY (environment, transaction_id, content_hash)
);
COMMENT ON TABLE verification.receipt_purchases IS 'Which purchases a receipt was handed in for.';

-- All but submitter: erasing a person will have to take it out.
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF content_hash, environment, app, creation_date, container,
    message, correlation_id, verified_at ON verification.receipts
    FOR EACH STATEMENT EXECUTE FUNCTION verification.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON verification.receipt_purchases
    FOR EACH STATEMENT EXECUTE FUNCTION verification.refuse_change();

GRANT SELECT, INSERT ON verification.receipts, verification.receipt_purchases TO purser_verification;
GRANT SELECT ON verification.receipts, verification.receipt_purchases TO purser_auditor;
