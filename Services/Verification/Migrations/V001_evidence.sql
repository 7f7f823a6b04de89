-- What Apple signed, kept so that the exact JWS can be rebuilt at any time.
-- The header (three certificates, 4 of 5 KB) is the same for months, so each distinct one is stored once.

CREATE TABLE verification.headers (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    segment text COLLATE "C" NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE verification.headers IS
    'Each distinct JWS header segment (base64url text), found by its SHA-256.';

CREATE TABLE verification.evidence (
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('Production', 'Sandbox')),
    transaction_id text COLLATE "C" NOT NULL CHECK (transaction_id ~ '^[0-9]{1,20}$'),
    signed_date bigint NOT NULL,
    payload_hash bytea NOT NULL CHECK (octet_length(payload_hash) = 32),
    app text COLLATE "C" NOT NULL,
    header bigint NOT NULL REFERENCES verification.headers (id),
    payload bytea NOT NULL,
    signature bytea NOT NULL CHECK (octet_length(signature) = 64),
    submitter text,
    order_number text,
    message uuid NOT NULL,
    correlation_id text NOT NULL,
    verified_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (environment, transaction_id, signed_date, payload_hash)
);
COMMENT ON TABLE verification.evidence IS
    'Every distinct statement of Apple about a transaction that passed all checks, with the first submitter of it. '
    'The signature is no part of the key: ECDSA signatures are malleable.';

CREATE TABLE verification.quarantine (
    message uuid PRIMARY KEY,
    sequence bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    app text COLLATE "C" NOT NULL,
    submitter text,
    reason text NOT NULL,
    evidence_hash bytea NOT NULL CHECK (octet_length(evidence_hash) = 32),
    excerpt text NOT NULL CHECK (octet_length(excerpt) <= 8192),
    correlation_id text NOT NULL,
    refused_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE verification.quarantine IS
    'What was refused, by message: a forgery never occupies a genuine key, and a verdict is always computed anew. '
    'Capped: the service deletes the oldest beyond its limit.';

CREATE TABLE verification.facts (
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
CREATE INDEX facts_cause ON verification.facts (cause);
COMMENT ON TABLE verification.facts IS
    'What this service told others, append-only; every published copy is read from here.';

CREATE TABLE verification.unannounced (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    facts uuid[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE verification.unannounced IS
    'One row a batch whose facts may not have been published yet; a sweep publishes what stays here.';

GRANT USAGE ON SCHEMA verification TO purser_verification, purser_auditor;
GRANT SELECT, INSERT ON verification.headers, verification.evidence, verification.facts TO purser_verification;
GRANT SELECT, INSERT, DELETE ON verification.quarantine, verification.unannounced TO purser_verification;
GRANT SELECT ON ALL TABLES IN SCHEMA verification TO purser_auditor;
