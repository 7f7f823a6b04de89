-- Whom Apple is asked about besides its notifications: what was refunded to recent buyers. Times are milliseconds since
-- 1970. The cursor starts anew, so that an installation that exists already knows all its buyers and bundle ids.

ALTER TABLE reconciliation.purchases ADD COLUMN bundle_id text COLLATE "C";
COMMENT ON COLUMN reconciliation.purchases.bundle_id IS 'As Apple signed it: for which of an app''s bundle ids it is asked.';

CREATE TABLE reconciliation.apple_accounts (
    app text COLLATE "C" NOT NULL CHECK (app <> ''),
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('Production', 'Sandbox')),
    bundle_id text COLLATE "C" NOT NULL CHECK (bundle_id <> ''),
    account text COLLATE "C" NOT NULL CHECK (account <> ''),
    transaction_id text COLLATE "C" NOT NULL CHECK (transaction_id <> ''),
    bought_at bigint NOT NULL,
    refunds_revision text COLLATE "C" CHECK (refunds_revision <> ''),
    refunds_at bigint NOT NULL,
    PRIMARY KEY (app, environment, bundle_id, account)
);
CREATE INDEX apple_accounts_recent ON reconciliation.apple_accounts (app, environment, bundle_id, bought_at);
COMMENT ON TABLE reconciliation.apple_accounts IS
    'Apple accounts that bought in an app, each found by one of its purchases, and how far Apple was asked about each.';
COMMENT ON COLUMN reconciliation.apple_accounts.account IS
    'Apple''s id of the account in the app where it signs one; else Granting''s customer, else the purchase.';
COMMENT ON COLUMN reconciliation.apple_accounts.transaction_id IS
    'The purchase by which Apple is asked: always the same one, because a revision belongs to it.';
COMMENT ON COLUMN reconciliation.apple_accounts.bought_at IS 'The newest purchase.';
COMMENT ON COLUMN reconciliation.apple_accounts.refunds_revision IS
    'Apple''s name of the place where its list of refunds was read up to, written in the transaction that keeps what the page brought.';
COMMENT ON COLUMN reconciliation.apple_accounts.refunds_at IS
    'Whose turn it is: the earliest first, so whoever was asked about longest ago; nobody is passed over.';

ALTER TABLE reconciliation.apple_feeds ADD COLUMN revoked_share bigint CHECK (revoked_share BETWEEN 0 AND 100000);
COMMENT ON COLUMN reconciliation.apple_feeds.revoked_share IS
    'Of a signed transaction, what it takes back: missed while Granting''s older statement says otherwise.';
CREATE INDEX apple_feeds_transaction ON reconciliation.apple_feeds (transaction_id);

REVOKE ALL ON reconciliation.apple_accounts FROM PUBLIC;
GRANT SELECT, INSERT ON reconciliation.apple_accounts TO purser_reconciliation;
GRANT UPDATE (bought_at, refunds_revision, refunds_at) ON reconciliation.apple_accounts TO purser_reconciliation;
GRANT SELECT ON reconciliation.apple_accounts TO purser_auditor;
UPDATE reconciliation.cursors SET value = 0 WHERE name = 'evidence';
