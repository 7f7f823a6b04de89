-- What Apple told, each once, kept so that the exact JWS can be rebuilt at any time. Nothing is ever deleted.
-- The header (three certificates, 4 of 5 KB) is the same for months, so each distinct one is stored once; the signed
-- texts inside a notification are inside its payload and need no copy.

CREATE TABLE intake.headers (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    segment text COLLATE "C" NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE intake.headers IS
    'Each distinct JWS header segment (base64url text), found by its SHA-256.';

CREATE TABLE intake.notifications (
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('Production', 'Sandbox')),
    notification_uuid uuid NOT NULL,
    -- The order of arrival. Without an index of its own: pages of a re-drive must go by type.
    sequence bigint GENERATED ALWAYS AS IDENTITY,
    app text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    subtype text COLLATE "C",
    is_known boolean NOT NULL,
    transaction_id text COLLATE "C" CHECK (transaction_id ~ '^[0-9]{1,20}$'),
    original_transaction_id text COLLATE "C" CHECK (original_transaction_id ~ '^[0-9]{1,20}$'),
    product_id text COLLATE "C",
    subscription_status bigint,
    signed_date bigint NOT NULL,
    received_at timestamptz NOT NULL,
    stored_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    header bigint NOT NULL REFERENCES intake.headers (id),
    payload bytea NOT NULL,
    signature bytea NOT NULL CHECK (octet_length(signature) = 64),
    message uuid NOT NULL,
    correlation_id text NOT NULL,
    -- Of repetitions only the number and the last are kept.
    times_received bigint NOT NULL DEFAULT 1 CHECK (times_received > 0),
    last_received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_message uuid NOT NULL,
    times_redriven bigint NOT NULL DEFAULT 0 CHECK (times_redriven >= 0),
    PRIMARY KEY (environment, notification_uuid)
);
-- Support asks by transaction, a re-drive by type or for what no version knew.
CREATE INDEX notifications_transaction ON intake.notifications (transaction_id);
CREATE INDEX notifications_original ON intake.notifications (original_transaction_id);
CREATE INDEX notifications_type ON intake.notifications (environment, type, sequence);
CREATE INDEX notifications_unknown ON intake.notifications (environment, type, sequence) WHERE NOT is_known;
COMMENT ON TABLE intake.notifications IS
    'Every genuine notification of Apple, once for each environment and UUID, however often it came.';
COMMENT ON COLUMN intake.notifications.is_known IS
    'Whether the version that stored it knew its type. If not, it was told as notification.unrecognised.';
COMMENT ON COLUMN intake.notifications.payload IS
    'The JSON as signed: convert_from(payload, ''UTF8'')::json. With header and signature the exact JWS.';
COMMENT ON COLUMN intake.notifications.times_received IS
    'About how often it came: a message that the broker delivers again after others may count twice.';

CREATE TABLE intake.redrives (
    message uuid PRIMARY KEY,
    actor text NOT NULL,
    request text NOT NULL,
    is_dry_run boolean NOT NULL,
    answer text NOT NULL,
    requested_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE intake.redrives IS
    'Who asked for stored notifications to be told again, and what was answered: a redelivered request gets the same.';

CREATE TABLE intake.quarantine (
    message uuid PRIMARY KEY,
    sequence bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    app text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    "check" text NOT NULL,
    inside text,
    evidence_hash bytea NOT NULL CHECK (octet_length(evidence_hash) = 32),
    excerpt text NOT NULL CHECK (octet_length(excerpt) <= 81920),
    correlation_id text NOT NULL,
    refused_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE intake.quarantine IS
    'What was refused, by message: a forgery never occupies a genuine key, and a verdict is always computed anew. '
    'Capped: the service deletes the oldest beyond its limit.';

CREATE TABLE intake.facts (
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
CREATE INDEX facts_cause ON intake.facts (cause);
COMMENT ON TABLE intake.facts IS
    'What this service told others, append-only; every published copy is read from here.';

CREATE TABLE intake.unannounced (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    facts uuid[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE intake.unannounced IS
    'One row a batch whose facts may not have been published yet; a sweep publishes what stays here.';

GRANT USAGE ON SCHEMA intake TO purser_intake, purser_auditor;
GRANT SELECT, INSERT ON intake.headers, intake.notifications, intake.redrives, intake.facts TO purser_intake;
GRANT UPDATE (times_received, last_received_at, last_message, times_redriven) ON intake.notifications TO purser_intake;
GRANT SELECT, INSERT, DELETE ON intake.quarantine, intake.unannounced TO purser_intake;
GRANT SELECT ON ALL TABLES IN SCHEMA intake TO purser_auditor;
