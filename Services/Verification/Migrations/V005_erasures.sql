-- Erasing users from what was handed in. Rights and triggers let nothing but a name be taken out.

CREATE TABLE verification.erasures (
    message uuid PRIMARY KEY,
    app text COLLATE "C" NOT NULL CHECK (app <> ''),
    digests bytea[] NOT NULL,
    user_ids text[],
    until bigint NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    facts bigint NOT NULL DEFAULT 0,
    evidence bigint NOT NULL DEFAULT 0,
    done_at timestamptz,
    CHECK ((user_ids IS NULL) = (done_at IS NOT NULL))
);
CREATE INDEX erasures_recorded ON verification.erasures (recorded_at);
COMMENT ON TABLE verification.erasures IS
    'Users who were erased: what they sent before until (ms since 1970) and is handled later has no user. Names only as SHA-256 of app, a zero byte and user id; in clear (user_ids) only until everything is looked through. facts and evidence count the rows that named them.';

GRANT SELECT, INSERT ON verification.erasures TO purser_verification;
GRANT UPDATE (user_ids, facts, evidence, done_at) ON verification.erasures TO purser_verification;
GRANT SELECT ON verification.erasures TO purser_auditor;

GRANT UPDATE (body) ON verification.facts TO purser_verification;
GRANT UPDATE (submitter) ON verification.evidence, verification.receipts, verification.quarantine
    TO purser_verification;

-- What was told stays what was told, but for who had handed it in and who that is to starter offers.
DROP TRIGGER append_only ON verification.facts;
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF sequence, id, cause, key, revision, type, version, app,
    environment, correlation_id, occurred_at, created_at ON verification.facts
    FOR EACH STATEMENT EXECUTE FUNCTION verification.refuse_change();
CREATE TRIGGER erased_only BEFORE UPDATE OF body ON verification.facts FOR EACH ROW
    WHEN (NEW.body::jsonb IS DISTINCT FROM OLD.body::jsonb - 'userID' - 'identities')
    EXECUTE FUNCTION verification.refuse_change();

CREATE TRIGGER erased_only BEFORE UPDATE OF submitter ON verification.evidence FOR EACH ROW
    WHEN (NEW.submitter IS NOT NULL) EXECUTE FUNCTION verification.refuse_change();
CREATE TRIGGER erased_only BEFORE UPDATE OF submitter ON verification.receipts FOR EACH ROW
    WHEN (NEW.submitter IS NOT NULL) EXECUTE FUNCTION verification.refuse_change();
CREATE TRIGGER erased_only BEFORE UPDATE OF submitter ON verification.quarantine FOR EACH ROW
    WHEN (NEW.submitter IS NOT NULL) EXECUTE FUNCTION verification.refuse_change();
