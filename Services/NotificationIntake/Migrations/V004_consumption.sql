-- Apple's questions about the use of a purchase (CONSUMPTION_REQUEST): each with its clock, and what Apple was told.
-- Times are milliseconds since 1970, as Apple's signed date is, from which the clock runs.

CREATE TABLE intake.consumption_requests (
    environment text COLLATE "C" NOT NULL,
    notification_uuid uuid NOT NULL,
    app text COLLATE "C" NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    transaction_id text COLLATE "C" CHECK (transaction_id ~ '^[0-9]{1,20}$'),
    asked_because text,
    is_advanced_commerce boolean NOT NULL,
    signed_date bigint NOT NULL,
    deadline bigint NOT NULL,
    correlation_id text NOT NULL,
    state text COLLATE "C" NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'sent', 'refused', 'skipped', 'expired')),
    reason text COLLATE "C" NOT NULL DEFAULT 'new' CHECK (reason <> ''),
    next_at bigint NOT NULL,
    claims bigint NOT NULL DEFAULT 0 CHECK (claims >= 0),
    failures bigint NOT NULL DEFAULT 0 CHECK (failures >= 0),
    attempts bigint NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    alerts bigint NOT NULL DEFAULT 0 CHECK (alerts BETWEEN 0 AND 2),
    ended_at bigint,
    stored_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (environment, notification_uuid),
    FOREIGN KEY (environment, notification_uuid) REFERENCES intake.notifications,
    CONSTRAINT consumption_ended CHECK ((state = 'pending') = (ended_at IS NULL)),
    CONSTRAINT consumption_of_something CHECK (transaction_id IS NOT NULL OR state IN ('skipped', 'expired')),
    CONSTRAINT consumption_sent_by_attempt CHECK (state NOT IN ('sent', 'refused') OR attempts > 0)
);
CREATE INDEX consumption_open ON intake.consumption_requests (next_at) WHERE state = 'pending';
CREATE INDEX consumption_transaction ON intake.consumption_requests (transaction_id);
COMMENT ON TABLE intake.consumption_requests IS
    'Every question of Apple about the use of a purchase: pending until it is answered, refused by Apple for good, skipped (reason: the policy, no consent, …) or expired. A copy of the service takes the next one by moving next_at ahead and counting claims.';
COMMENT ON COLUMN intake.consumption_requests.reason IS
    'While pending what it waits for, afterwards why it ended so.';
COMMENT ON COLUMN intake.consumption_requests.alerts IS
    'How many of the two warnings (half the time is over, nearly all of it is) were given.';

CREATE TABLE intake.consumption_attempts (
    environment text COLLATE "C" NOT NULL,
    notification_uuid uuid NOT NULL,
    attempt bigint NOT NULL CHECK (attempt > 0),
    version text COLLATE "C" NOT NULL CHECK (version IN ('v1', 'v2')),
    body json NOT NULL,
    began_at bigint NOT NULL,
    ended_at bigint,
    outcome text COLLATE "C" CHECK (outcome <> ''),
    http_status bigint,
    apple_code bigint,
    PRIMARY KEY (environment, notification_uuid, attempt),
    FOREIGN KEY (environment, notification_uuid) REFERENCES intake.consumption_requests,
    CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
COMMENT ON TABLE intake.consumption_attempts IS
    'What Apple was told and what it answered, written before it is sent: an attempt without outcome may have reached Apple.';

-- What came before this version: still answered if there is time, else on record.
INSERT INTO intake.consumption_requests (environment, notification_uuid, app, bundle_id, transaction_id, asked_because,
    is_advanced_commerce, signed_date, deadline, correlation_id, next_at, state, reason, ended_at)
SELECT environment, notification_uuid, app, bundle_id, transaction_id, asked_because, is_advanced_commerce, signed_date,
    signed_date + 43200000, correlation_id, signed_date,
    CASE WHEN transaction_id IS NULL THEN 'skipped' WHEN is_over THEN 'expired' ELSE 'pending' END,
    CASE WHEN transaction_id IS NULL THEN 'no_transaction' WHEN is_over THEN 'before_upgrade' ELSE 'new' END,
    CASE WHEN transaction_id IS NULL OR is_over THEN (extract(epoch FROM clock_timestamp()) * 1000)::bigint END
FROM (SELECT n.*, signed_date + 43200000 < extract(epoch FROM clock_timestamp()) * 1000 AS is_over,
        coalesce(body -> 'data' ->> 'bundleId', '') AS bundle_id,
        body -> 'data' ->> 'consumptionRequestReason' AS asked_because,
        coalesce(convert_from(decode(rpad(translate(inner_text, '-_', '+/'),
            (length(inner_text) + 3) / 4 * 4, '='), 'base64'), 'UTF8')::json -> 'advancedCommerceInfo', 'null')::text
            <> 'null' AS is_advanced_commerce
    FROM intake.notifications n
    CROSS JOIN LATERAL (SELECT convert_from(n.payload, 'UTF8')::json AS body) AS p
    CROSS JOIN LATERAL (
        SELECT split_part(body -> 'data' ->> 'signedTransactionInfo', '.', 2) AS inner_text) AS i
    WHERE n.type = 'CONSUMPTION_REQUEST') AS old;

CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF environment, notification_uuid, app, bundle_id,
    transaction_id, asked_because, is_advanced_commerce, signed_date, deadline, correlation_id, stored_at
    ON intake.consumption_requests FOR EACH STATEMENT EXECUTE FUNCTION intake.refuse_change();
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF environment, notification_uuid, attempt, version, body,
    began_at ON intake.consumption_attempts FOR EACH STATEMENT EXECUTE FUNCTION intake.refuse_change();

REVOKE ALL ON intake.consumption_requests, intake.consumption_attempts FROM PUBLIC;
GRANT SELECT ON intake.consumption_requests, intake.consumption_attempts TO purser_intake, purser_auditor;
GRANT INSERT ON intake.consumption_requests, intake.consumption_attempts TO purser_intake;
GRANT UPDATE (state, reason, next_at, claims, failures, attempts, alerts, ended_at)
    ON intake.consumption_requests TO purser_intake;
GRANT UPDATE (ended_at, outcome, http_status, apple_code) ON intake.consumption_attempts TO purser_intake;
