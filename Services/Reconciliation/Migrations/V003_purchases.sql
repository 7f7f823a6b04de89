-- What Apple signed about every verified purchase, as Verification tells it page by page: the daily run goes through it
-- without asking again. The cursor starts anew, so that an installation that exists already gets all of them.

CREATE TABLE reconciliation.purchases (
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('Production', 'Sandbox')),
    transaction_id text COLLATE "C" NOT NULL,
    app text COLLATE "C" NOT NULL,
    original_transaction_id text COLLATE "C" NOT NULL,
    app_transaction_id text COLLATE "C",
    order_number text COLLATE "C",
    has_submitter boolean NOT NULL,
    verified_at bigint NOT NULL,
    product_id text COLLATE "C" NOT NULL,
    product_type text COLLATE "C" NOT NULL,
    ownership text COLLATE "C" NOT NULL,
    quantity bigint NOT NULL,
    purchase_date bigint NOT NULL,
    signed_date bigint NOT NULL,
    revocation_date bigint,
    revoked_share bigint NOT NULL CHECK (revoked_share BETWEEN 0 AND 100000),
    price bigint,
    currency text COLLATE "C",
    storefront text COLLATE "C",
    PRIMARY KEY (environment, transaction_id)
);
CREATE INDEX purchases_day ON reconciliation.purchases (app, environment, purchase_date);
COMMENT ON TABLE reconciliation.purchases IS
    'Every verified purchase as Apple''s newest statement has it; times in ms since 1970, price in milliunits. What became of it Granting knows.';
COMMENT ON COLUMN reconciliation.purchases.verified_at IS 'When Verification first said it.';
COMMENT ON COLUMN reconciliation.purchases.has_submitter IS 'Whether anybody who was logged in ever handed it in.';
UPDATE reconciliation.cursors SET value = 0 WHERE name = 'evidence';

REVOKE ALL ON reconciliation.purchases FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE ON reconciliation.purchases TO purser_reconciliation;
GRANT SELECT ON reconciliation.purchases TO purser_auditor;
