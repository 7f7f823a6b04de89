-- Wallets: Σ ledger = balance = Σ remaining of the lots, always.

CREATE TABLE granting.accounts (
    customer uuid NOT NULL REFERENCES granting.customers,
    asset text COLLATE "C" NOT NULL CHECK (asset <> ''),
    balance bigint NOT NULL CONSTRAINT accounts_balance_not_negative CHECK (balance >= 0),
    revision bigint NOT NULL,
    PRIMARY KEY (customer, asset)
) WITH (fillfactor = 80);
COMMENT ON TABLE granting.accounts IS 'The balance of an asset in a wallet, in whole units. revision counts its changes.';

CREATE TABLE granting.lots (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer uuid NOT NULL REFERENCES granting.customers,
    asset text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    transaction_id text COLLATE "C" NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    remaining bigint NOT NULL,
    is_frozen boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT lots_one_a_grant_and_asset UNIQUE (environment, transaction_id, asset),
    FOREIGN KEY (environment, transaction_id) REFERENCES granting.grants,
    CONSTRAINT lots_remaining_within_amount CHECK (remaining BETWEEN 0 AND amount)
) WITH (fillfactor = 80);
-- Not partial by remaining: an index that names a column which every spend changes would forbid HOT updates.
CREATE INDEX lots_account ON granting.lots (customer, asset, id);
COMMENT ON TABLE granting.lots IS
    'What one purchase put into a wallet and what is left of it, spent in the order of id. Frozen: not to be spent, its owner is in doubt.';

CREATE TABLE granting.draws (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    lot bigint NOT NULL REFERENCES granting.lots,
    kind text NOT NULL CHECK (kind IN ('spend', 'clawback', 'repayment')),
    source_id text COLLATE "C" NOT NULL CHECK (source_id <> ''),
    refunded_environment text COLLATE "C",
    refunded_transaction text COLLATE "C",
    amount bigint NOT NULL CHECK (amount <> 0),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK ((kind = 'spend') = (refunded_transaction IS NULL)),
    CHECK ((refunded_environment IS NULL) = (refunded_transaction IS NULL)),
    CHECK (kind <> 'spend' OR amount > 0)
);
CREATE INDEX draws_lot ON granting.draws (lot);
CREATE INDEX draws_refunded ON granting.draws (refunded_environment, refunded_transaction, id)
    WHERE refunded_transaction IS NOT NULL;
COMMENT ON TABLE granting.draws IS
    'Every movement of a lot with its kind, so that the spent share of any purchase is exact. Positive amounts left the lot, negative ones came back. refunded_… is the purchase whose refund drew it.';

CREATE TABLE granting.ledger (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer uuid NOT NULL,
    asset text COLLATE "C" NOT NULL,
    direction text NOT NULL CHECK (direction IN ('IN', 'OUT')),
    amount bigint NOT NULL CHECK (amount >= 0),
    balance_after bigint NOT NULL CHECK (balance_after >= 0),
    source_type text COLLATE "C" NOT NULL CHECK (source_type IN
        ('APPLE_IAP', 'APPLE_REFUND', 'APPLE_REFUND_REVERSED', 'APP_USAGE')),
    source_id text COLLATE "C" NOT NULL CHECK (source_id <> ''),
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('', 'Production', 'Sandbox')),
    remark text,
    cause uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    FOREIGN KEY (customer, asset) REFERENCES granting.accounts,
    CONSTRAINT ledger_once_a_source UNIQUE (customer, source_type, source_id, asset, direction, environment)
);
CREATE INDEX ledger_page ON granting.ledger (customer, id);
COMMENT ON TABLE granting.ledger IS
    'The books: one line a change, with the balance after it. Appended to, never changed, by nobody. source_id is <transactionId>/<revision> for purchases, the caller''s id for spends (environment empty).';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON granting.ledger
    FOR EACH STATEMENT EXECUTE FUNCTION granting.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON granting.draws
    FOR EACH STATEMENT EXECUTE FUNCTION granting.refuse_change();

CREATE TABLE granting.spends (
    customer uuid NOT NULL REFERENCES granting.customers,
    source_id text COLLATE "C" NOT NULL CHECK (source_id <> ''),
    app text COLLATE "C" NOT NULL,
    asset text COLLATE "C" NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    outcome text NOT NULL CHECK (outcome IN ('spent', 'not_enough', 'deadline_passed', 'unknown_asset')),
    code text,
    deadline bigint NOT NULL,
    balance_after bigint NOT NULL CHECK (balance_after >= 0),
    cause uuid NOT NULL,
    decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (customer, source_id),
    CHECK ((outcome = 'spent') = (code IS NULL))
);
COMMENT ON TABLE granting.spends IS 'Every spend decision, refusals too, final: same id, same answer. deadline is in ms since 1970.';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON granting.spends
    FOR EACH STATEMENT EXECUTE FUNCTION granting.refuse_change();

CREATE TABLE granting.debts (
    environment text COLLATE "C" NOT NULL,
    transaction_id text COLLATE "C" NOT NULL,
    asset text COLLATE "C" NOT NULL,
    customer uuid NOT NULL REFERENCES granting.customers,
    amount bigint NOT NULL CHECK (amount >= 0),
    settled bigint NOT NULL DEFAULT 0,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (environment, transaction_id, asset),
    FOREIGN KEY (environment, transaction_id) REFERENCES granting.grants,
    CHECK (settled BETWEEN 0 AND amount)
);
CREATE INDEX debts_open ON granting.debts (customer) WHERE settled < amount;
COMMENT ON TABLE granting.debts IS
    'What a refund could not take back because it had been spent: amount − settled is open. A reversal cancels it first.';
