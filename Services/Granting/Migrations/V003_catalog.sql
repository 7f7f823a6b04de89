-- What products grant, now and in the past. A version comes into force by its commit and is never changed.

CREATE TABLE granting.catalog_versions (
    app text COLLATE "C" NOT NULL CHECK (app <> ''),
    version bigint NOT NULL CHECK (version > 0),
    imported_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor text NOT NULL CHECK (actor <> ''),
    cause uuid NOT NULL UNIQUE,
    definition json NOT NULL,
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    PRIMARY KEY (app, version)
);
COMMENT ON TABLE granting.catalog_versions IS
    'Each import: the whole catalogue in force from then on (assets, products with the disabled ones, policies), and the SHA-256 of its text.';

CREATE TABLE granting.product_versions (
    app text COLLATE "C" NOT NULL,
    product_id text COLLATE "C" NOT NULL CHECK (product_id <> ''),
    version bigint NOT NULL,
    effective_from timestamptz NOT NULL DEFAULT clock_timestamp(),
    code text NOT NULL CHECK (code <> ''),
    product_type text NOT NULL CHECK (product_type IN
        ('Consumable', 'Non-Consumable', 'Non-Renewing Subscription', 'Auto-Renewable Subscription')),
    is_enabled boolean NOT NULL,
    sort bigint NOT NULL,
    entitlement text CHECK (entitlement <> ''),
    entitlement_days bigint CHECK (entitlement_days > 0),
    remark text,
    PRIMARY KEY (app, product_id, version),
    FOREIGN KEY (app, version) REFERENCES granting.catalog_versions,
    CHECK (entitlement_days IS NULL OR entitlement IS NOT NULL)
);
COMMENT ON TABLE granting.product_versions IS
    'What a product was from one version on; only versions that changed it have a row. The one in force at purchaseDate decides a grant.';

CREATE TABLE granting.product_amounts (
    app text COLLATE "C" NOT NULL,
    product_id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    asset text COLLATE "C" NOT NULL CHECK (asset <> ''),
    amount bigint NOT NULL CHECK (amount > 0),
    PRIMARY KEY (app, product_id, version, asset),
    FOREIGN KEY (app, product_id, version) REFERENCES granting.product_versions
);
COMMENT ON TABLE granting.product_amounts IS 'What one unit of a product version puts into a wallet.';

CREATE TABLE granting.assets (
    app text COLLATE "C" NOT NULL,
    asset text COLLATE "C" NOT NULL CHECK (asset <> ''),
    json_name text NOT NULL CHECK (json_name <> ''),
    insufficient_code text NOT NULL,
    PRIMARY KEY (app, asset)
);
COMMENT ON TABLE granting.assets IS
    'Assets as the catalogue in force defines them, for people and reports; decisions read catalog_versions.definition. Never removed.';

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON granting.catalog_versions
    FOR EACH STATEMENT EXECUTE FUNCTION granting.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON granting.product_versions
    FOR EACH STATEMENT EXECUTE FUNCTION granting.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON granting.product_amounts
    FOR EACH STATEMENT EXECUTE FUNCTION granting.refuse_change();
