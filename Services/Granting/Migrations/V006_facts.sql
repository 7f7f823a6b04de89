-- What became true, in the transaction that made it true; published afterwards from here, so that every copy is equal.

CREATE TABLE granting.facts (
    sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL UNIQUE,
    cause uuid NOT NULL,
    key text NOT NULL,
    revision bigint NOT NULL,
    type text NOT NULL,
    version int NOT NULL,
    app text,
    environment text,
    correlation_id text NOT NULL,
    occurred_at bigint NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX facts_cause ON granting.facts (cause);
COMMENT ON TABLE granting.facts IS
    'Every fact this service ever announced. A redelivered message finds its facts by cause; the id follows from type, key, revision and cause.';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON granting.facts
    FOR EACH STATEMENT EXECUTE FUNCTION granting.refuse_change();

CREATE TABLE granting.unannounced (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    facts uuid[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE granting.unannounced IS
    'One row a batch whose facts may not have been published yet; deleted once they are. A sweep publishes what stays here.';
