-- What is known about the certificates that sign for us: whether Apple has revoked them. Times are milliseconds since
-- 1970 by the service's clock, so that all of them compare.

CREATE TABLE verification.chains (
    chain bytea PRIMARY KEY CHECK (octet_length(chain) = 32),
    subject text NOT NULL,
    serial_number text NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    asked_at bigint NOT NULL,
    status text COLLATE "C" CHECK (status IN ('good', 'revoked')),
    revoked_at bigint,
    reason bigint,
    leaf_as_of bigint NOT NULL DEFAULT 0,
    intermediate_as_of bigint NOT NULL DEFAULT 0,
    answer_ends bigint NOT NULL DEFAULT 0,
    check_again_at bigint NOT NULL DEFAULT 0,
    attempted_at bigint NOT NULL DEFAULT 0,
    attempted_by uuid,
    attempt text COLLATE "C",
    CHECK ((status IS NOT DISTINCT FROM 'revoked') = (revoked_at IS NOT NULL)),
    CHECK (reason IS NULL OR revoked_at IS NOT NULL)
);
COMMENT ON TABLE verification.chains IS
    'Each pair of leaf and intermediate that signed for us, by the SHA-256 of both, and what Apple''s responders said.';
COMMENT ON COLUMN verification.chains.status IS 'NULL: nobody has answered yet.';
COMMENT ON COLUMN verification.chains.asked_at IS 'When a check was last asked for or tried; keeps others from asking.';
COMMENT ON COLUMN verification.chains.leaf_as_of IS
    'When the answer about the leaf was right: an older answer that somebody has kept never undoes a newer one.';
COMMENT ON COLUMN verification.chains.attempted_by IS 'The message that carries the check along the retry ladder.';
COMMENT ON COLUMN verification.chains.attempt IS 'What became of the last attempt, by its stable name.';

-- What was accepted since a revocation is looked for by date; the rows lie in about that order, so this costs nothing.
CREATE INDEX evidence_signed ON verification.evidence USING brin (signed_date);

GRANT SELECT, INSERT, UPDATE ON verification.chains TO purser_verification;
GRANT SELECT ON verification.chains TO purser_auditor;
