-- Apple's transactions as far as verified statements tell, and what was delivered for them.

CREATE TABLE granting.transactions (
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('Production', 'Sandbox')),
    transaction_id text COLLATE "C" NOT NULL CHECK (transaction_id <> ''),
    app text COLLATE "C" NOT NULL,
    original_transaction_id text COLLATE "C" NOT NULL,
    web_order_line_item_id text,
    bundle_id text NOT NULL,
    product_id text COLLATE "C" NOT NULL,
    product_type text NOT NULL,
    ownership text NOT NULL,
    quantity bigint NOT NULL,
    purchase_date bigint NOT NULL,
    original_purchase_date bigint,
    expires_date bigint,
    signed_date bigint NOT NULL,
    app_account_token uuid,
    revoked_share bigint NOT NULL CHECK (revoked_share BETWEEN 0 AND 100000),
    revocation_date bigint,
    revocation_reason bigint,
    revocation_type text,
    revocation_percentage bigint,
    is_upgraded boolean,
    transaction_reason text,
    price bigint,
    currency text,
    storefront text,
    subscription_group_id text,
    app_transaction_id text,
    payload_hash text NOT NULL,
    owner uuid REFERENCES granting.customers,
    submitter uuid REFERENCES granting.customers,
    submitted_order text COLLATE "C",
    order_number text COLLATE "C" REFERENCES granting.orders,
    held_reason text CHECK (held_reason IN ('unknown_product', 'sandbox_policy', 'product_type_mismatch',
        'family_shared', 'amount_overflow', 'not_deliverable', 'token_required')),
    is_claimed_by_caller boolean NOT NULL DEFAULT false,
    delivered_by text COLLATE "C",
    redriven_version bigint NOT NULL DEFAULT 0,
    first_cause uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (environment, transaction_id),
    CHECK (revocation_date IS NOT NULL OR revoked_share = 0),
    CONSTRAINT transactions_delivered_or_held CHECK (held_reason IS NULL OR delivered_by IS NULL),
    CONSTRAINT transactions_delivered_to_owner CHECK (delivered_by IS NULL OR owner IS NOT NULL)
) WITH (fillfactor = 80);
CREATE INDEX transactions_owner ON granting.transactions (owner) WHERE owner IS NOT NULL;
CREATE INDEX transactions_original ON granting.transactions (environment, original_transaction_id);
CREATE INDEX transactions_held ON granting.transactions (app, held_reason, created_at) WHERE held_reason IS NOT NULL;
COMMENT ON TABLE granting.transactions IS
    'The newest signed statement about each transaction (times: ms since 1970), its owner, and why it waits if it does. Without owner it is claimable. No key is ever made of a JWS.';
COMMENT ON COLUMN granting.transactions.submitter IS
    'Who last handed it in while policy kept it from being granted; a re-drive acts for them.';
COMMENT ON COLUMN granting.transactions.delivered_by IS
    'The transaction whose grant delivers it: itself, or for a restored non-consumable the first one.';
COMMENT ON COLUMN granting.transactions.redriven_version IS
    'The catalogue version on account of which a re-drive was asked for last.';

CREATE TABLE granting.grants (
    environment text COLLATE "C" NOT NULL,
    transaction_id text COLLATE "C" NOT NULL,
    app text COLLATE "C" NOT NULL,
    customer uuid NOT NULL REFERENCES granting.customers,
    product_id text COLLATE "C" NOT NULL,
    product_version bigint NOT NULL,
    quantity bigint NOT NULL CHECK (quantity > 0),
    kind text NOT NULL CHECK (kind IN ('consumable', 'non_consumable', 'period')),
    original_transaction_id text COLLATE "C" NOT NULL,
    web_order_line_item_id text COLLATE "C",
    order_number text COLLATE "C" REFERENCES granting.orders,
    cause uuid NOT NULL,
    revision bigint NOT NULL DEFAULT 0 CHECK (revision >= 0),
    applied_share bigint NOT NULL DEFAULT 0 CHECK (applied_share BETWEEN 0 AND 100000),
    granted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (environment, transaction_id),
    FOREIGN KEY (environment, transaction_id) REFERENCES granting.transactions,
    FOREIGN KEY (app, product_id, product_version) REFERENCES granting.product_versions,
    CHECK (kind <> 'period' OR web_order_line_item_id IS NOT NULL)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX grants_non_consumable ON granting.grants (environment, original_transaction_id, customer)
    WHERE kind = 'non_consumable';
CREATE UNIQUE INDEX grants_period ON granting.grants (environment, original_transaction_id, web_order_line_item_id)
    WHERE kind = 'period';
CREATE INDEX grants_customer ON granting.grants (customer);
COMMENT ON TABLE granting.grants IS
    'One row a delivered purchase, for ever: nothing is delivered twice. cause is the message that delivered it; revision and applied_share tell which revoked share the wallet reflects.';
