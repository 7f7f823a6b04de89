-- Starter offers: once an identity, whatever account it has, for ever.

CREATE TABLE granting.identities (
    customer uuid NOT NULL REFERENCES granting.customers,
    key_id text COLLATE "C" NOT NULL CHECK (key_id <> ''),
    hash text COLLATE "C" NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (customer, key_id, hash)
);
COMMENT ON TABLE granting.identities IS
    'Who a customer is to starter offers: HMAC-SHA-256 of an e-mail address or user id, under a key that only gateways have. Deleted by erasure.';

CREATE TABLE granting.starter_claims (
    app text COLLATE "C" NOT NULL CHECK (app <> ''),
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('Production', 'Sandbox')),
    offer text COLLATE "C" NOT NULL CHECK (offer <> ''),
    key_id text COLLATE "C" NOT NULL CHECK (key_id <> ''),
    hash text COLLATE "C" NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
    transaction_id text COLLATE "C",
    customer uuid REFERENCES granting.customers,
    claimed_at timestamptz,
    PRIMARY KEY (app, environment, offer, key_id, hash),
    FOREIGN KEY (environment, transaction_id) REFERENCES granting.grants,
    CHECK ((transaction_id IS NULL) = (customer IS NULL) AND (transaction_id IS NULL) = (claimed_at IS NULL))
);
COMMENT ON TABLE granting.starter_claims IS
    'Which identity has used up which starter offer, and by which purchase. Survives erasure. Without transaction_id: nobody has; the row is there to be locked.';

-- The second net: what is used up stays used up by the purchase that did it.
CREATE FUNCTION granting.refuse_second_claim() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
    RAISE EXCEPTION 'starter offer % is used up', OLD.offer USING ERRCODE = 'unique_violation';
END
$function$;
REVOKE EXECUTE ON FUNCTION granting.refuse_second_claim() FROM PUBLIC;
CREATE TRIGGER claimed_once BEFORE UPDATE ON granting.starter_claims FOR EACH ROW
    WHEN (OLD.transaction_id IS NOT NULL AND NEW IS DISTINCT FROM OLD)
    EXECUTE FUNCTION granting.refuse_second_claim();

ALTER TABLE granting.transactions DROP CONSTRAINT transactions_held_reason_check;
ALTER TABLE granting.transactions ADD CONSTRAINT transactions_held_reason_check
    CHECK (held_reason IN ('unknown_product', 'sandbox_policy', 'product_type_mismatch', 'family_shared',
        'amount_overflow', 'not_deliverable', 'token_required', 'ineligible', 'identity_unknown'));

ALTER TABLE granting.product_versions ADD COLUMN starter json;
COMMENT ON COLUMN granting.product_versions.starter IS
    'Set if an identity may buy it once: {"offer": …, "substitute": [what is granted instead]}.';

ALTER TABLE granting.grants ADD COLUMN starter_units bigint CHECK (starter_units BETWEEN 0 AND quantity);
COMMENT ON COLUMN granting.grants.starter_units IS
    'Of a starter product: how many units were the offer. Of the other units its substitute was granted.';

REVOKE ALL ON granting.identities, granting.starter_claims FROM PUBLIC;
GRANT SELECT ON granting.identities, granting.starter_claims TO purser_granting, purser_auditor;
GRANT INSERT, DELETE ON granting.identities TO purser_granting;
GRANT INSERT, UPDATE ON granting.starter_claims TO purser_granting;
