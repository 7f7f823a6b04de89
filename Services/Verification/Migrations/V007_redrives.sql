-- Who had which verified purchase said again, and why. Without the user it was said for: that stands in the fact.

CREATE TABLE verification.redrives (
    message uuid PRIMARY KEY,
    request text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('redrive', 'regrant')),
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('Production', 'Sandbox')),
    transaction_id text COLLATE "C" NOT NULL,
    is_known boolean NOT NULL,
    names_user boolean NOT NULL,
    actor text NOT NULL,
    reason text NOT NULL,
    requested_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX redrives_transaction ON verification.redrives (transaction_id);
COMMENT ON TABLE verification.redrives IS
    'Verified purchases that were said again, by whom and why; request is the id an operator gave, or the message''s.';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON verification.redrives
    FOR EACH STATEMENT EXECUTE FUNCTION verification.refuse_change();

GRANT SELECT, INSERT ON verification.redrives TO purser_verification;
GRANT SELECT ON verification.redrives TO purser_auditor;
