-- What Verification was told about the certificates that sign for us. Times are milliseconds since 1970.

CREATE TABLE intake.chains (
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
    CHECK ((status IS NOT DISTINCT FROM 'revoked') = (revoked_at IS NOT NULL)),
    CHECK (reason IS NULL OR revoked_at IS NOT NULL)
);
COMMENT ON TABLE intake.chains IS
    'Each pair of leaf and intermediate that signed for us, by the SHA-256 of both, and what Apple''s responders said.';
COMMENT ON COLUMN intake.chains.status IS 'NULL: nobody has answered yet.';
COMMENT ON COLUMN intake.chains.asked_at IS 'When this service last asked for a check; 0 since it was answered.';
COMMENT ON COLUMN intake.chains.leaf_as_of IS 'When the answer about the leaf was right: an older one never undoes it.';

GRANT SELECT, INSERT, UPDATE ON intake.chains TO purser_intake;
GRANT SELECT ON intake.chains TO purser_auditor;
