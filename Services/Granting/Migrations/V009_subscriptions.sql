-- What Apple says about the next renewal of subscriptions, and periods that are granted once.

CREATE TABLE granting.renewals (
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('Production', 'Sandbox')),
    original_transaction_id text COLLATE "C" NOT NULL CHECK (original_transaction_id <> ''),
    app text COLLATE "C" NOT NULL,
    signed_date bigint NOT NULL,
    payload_hash text COLLATE "C" NOT NULL,
    product_id text COLLATE "C",
    auto_renew_product_id text COLLATE "C",
    auto_renew_status bigint,
    expiration_intent bigint,
    is_in_billing_retry boolean,
    grace_period_expires_date bigint,
    renewal_date bigint,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (environment, original_transaction_id)
);
COMMENT ON TABLE granting.renewals IS
    'The newest signed renewal info of each subscription (times: ms since 1970), a register beside its transactions. It decides about grace periods and is told to the user; it grants nothing.';

REVOKE ALL ON granting.renewals FROM PUBLIC;
GRANT SELECT ON granting.renewals TO purser_granting, purser_auditor;
GRANT INSERT, UPDATE ON granting.renewals TO purser_granting;
