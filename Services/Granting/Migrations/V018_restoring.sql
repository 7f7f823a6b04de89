-- Putting back what a restored backup lacks, from the stream of facts.

-- Under this key facts say which user a customer is. It is as old as the schema, so every backup has it.
CREATE TABLE granting.restore_key (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    key bytea NOT NULL CHECK (octet_length(key) = 32)
);
-- Three random UUIDs hold 366 random bits.
INSERT INTO granting.restore_key (key)
SELECT sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
COMMENT ON TABLE granting.restore_key IS
    'The key under which facts name the user of a customer, so that whoever reads facts cannot try names. Never told to anybody.';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON granting.restore_key
    FOR EACH STATEMENT EXECUTE FUNCTION granting.refuse_change();

CREATE TABLE granting.restored_customers (
    customer uuid PRIMARY KEY REFERENCES granting.customers,
    app text COLLATE "C" NOT NULL CHECK (app <> ''),
    digest text COLLATE "C" NOT NULL CHECK (digest ~ '^[0-9a-f]{64}$'),
    restored_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (app, digest)
);
COMMENT ON TABLE granting.restored_customers IS
    'Customers that were lost with the database and came back from facts, which name their users only as a keyed hash. The next call of the user finds the customer, and the row goes.';

REVOKE ALL ON granting.restore_key, granting.restored_customers FROM PUBLIC;
GRANT SELECT ON granting.restore_key, granting.restored_customers TO purser_granting, purser_auditor;
GRANT INSERT, DELETE ON granting.restored_customers TO purser_granting;
