-- What Apple has told, against what came in. Times are milliseconds since 1970.

CREATE TABLE reconciliation.apple_histories (
    app text COLLATE "C" NOT NULL CHECK (app <> ''),
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('Production', 'Sandbox')),
    bundle_id text COLLATE "C" NOT NULL CHECK (bundle_id <> ''),
    covered_until bigint NOT NULL CHECK (covered_until >= 0),
    PRIMARY KEY (app, environment, bundle_id)
);
COMMENT ON TABLE reconciliation.apple_histories IS
    'Up to when Apple''s history of notifications was read, or is to be read by the slices that are left.';

CREATE TABLE reconciliation.apple_slices (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    starts_at bigint NOT NULL,
    ends_at bigint NOT NULL,
    token text COLLATE "C" CHECK (token <> ''),
    FOREIGN KEY (app, environment, bundle_id) REFERENCES reconciliation.apple_histories,
    CHECK (starts_at < ends_at)
);
CREATE INDEX apple_slices_newest ON reconciliation.apple_slices (app, environment, bundle_id, ends_at);
COMMENT ON TABLE reconciliation.apple_slices IS
    'Times of Apple''s history that are still to be read, the newest first; gone when they are. token: where the next page begins, written in the transaction that keeps what the page brought.';

CREATE TABLE reconciliation.apple_feeds (
    kind text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL CHECK (subject <> ''),
    app text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('Production', 'Sandbox')),
    notification_uuid uuid,
    transaction_id text COLLATE "C",
    signed_date bigint,
    payload text NOT NULL,
    found_at bigint NOT NULL,
    attempts bigint NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    sent_at bigint,
    next_at bigint NOT NULL,
    PRIMARY KEY (kind, subject),
    CHECK (notification_uuid IS NOT NULL OR transaction_id IS NOT NULL),
    CHECK ((attempts = 0) = (sent_at IS NULL))
);
CREATE INDEX apple_feeds_due ON reconciliation.apple_feeds (next_at);
CREATE INDEX apple_feeds_sent ON reconciliation.apple_feeds (sent_at) WHERE sent_at IS NOT NULL;
COMMENT ON TABLE reconciliation.apple_feeds IS
    'What Apple has signed and the books lack, to be handed in, with the finding (kind, subject) it belongs to; gone, with the payload, once the books have it. Written before anything is said: whoever dies in between says it later, and saying it twice changes nothing.';
COMMENT ON COLUMN reconciliation.apple_feeds.signed_date IS
    'When the statement of the transaction in it was signed: Granting''s newest must be as new.';

REVOKE ALL ON reconciliation.apple_histories, reconciliation.apple_slices, reconciliation.apple_feeds FROM PUBLIC;
GRANT SELECT, INSERT, DELETE ON reconciliation.apple_slices, reconciliation.apple_feeds TO purser_reconciliation;
GRANT SELECT, INSERT ON reconciliation.apple_histories TO purser_reconciliation;
GRANT UPDATE (covered_until) ON reconciliation.apple_histories TO purser_reconciliation;
GRANT UPDATE (starts_at, token) ON reconciliation.apple_slices TO purser_reconciliation;
GRANT UPDATE (attempts, sent_at, next_at) ON reconciliation.apple_feeds TO purser_reconciliation;
GRANT SELECT ON reconciliation.apple_histories, reconciliation.apple_slices, reconciliation.apple_feeds
    TO purser_auditor;
