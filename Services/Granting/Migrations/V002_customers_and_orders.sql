-- Who owns what, before anything is bought: customers, orders, and the tokens that prove ownership later.

CREATE TABLE granting.customers (
    customer uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    app text COLLATE "C" NOT NULL CHECK (app <> ''),
    user_id text COLLATE "C" CHECK (user_id <> ''),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (app, user_id)
) WITH (fillfactor = 90);
COMMENT ON TABLE granting.customers IS
    'One row per (app, user) stands for the whole wallet: who changes anything of it locks this row first. user_id is the only place that names a person and becomes NULL by erasure.';

CREATE TABLE granting.orders (
    order_number text COLLATE "C" PRIMARY KEY CHECK (order_number <> ''),
    app text COLLATE "C" NOT NULL,
    customer uuid NOT NULL REFERENCES granting.customers,
    product_id text COLLATE "C" NOT NULL CHECK (product_id <> ''),
    token uuid UNIQUE,
    expires_at timestamptz NOT NULL,
    delivered_environment text COLLATE "C",
    delivered_transaction text COLLATE "C",
    sibling_of text COLLATE "C" REFERENCES granting.orders,
    cause uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK ((delivered_environment IS NULL) = (delivered_transaction IS NULL)),
    CONSTRAINT orders_one_a_transaction UNIQUE (delivered_environment, delivered_transaction),
    CONSTRAINT orders_token_unless_sibling CHECK ((token IS NULL) = (sibling_of IS NOT NULL)),
    CONSTRAINT orders_sibling_is_delivered CHECK (sibling_of IS NULL OR delivered_transaction IS NOT NULL)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX orders_cause ON granting.orders (cause) WHERE sibling_of IS NULL;
CREATE INDEX orders_customer ON granting.orders (customer, created_at);
COMMENT ON TABLE granting.orders IS
    'What a customer announced to buy. Delivered at most once; a second purchase on it gets a sibling order. expires_at is a label: the token stays valid.';

CREATE TABLE granting.tokens (
    app text COLLATE "C" NOT NULL,
    token uuid NOT NULL,
    customer uuid NOT NULL REFERENCES granting.customers,
    order_number text COLLATE "C" REFERENCES granting.orders,
    issued_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (app, token)
);
COMMENT ON TABLE granting.tokens IS
    'Every appAccountToken ever issued and its customer, stored before it is told to anybody, kept for ever.';
