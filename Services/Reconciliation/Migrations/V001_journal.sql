-- The journal: a copy of the facts stream, each fact once, partitioned by the month in which it came to be. Dropping a
-- month is dropping a table; a unique key must contain what partitions, and a fact's time is the same in every copy.

CREATE TABLE reconciliation.journal (
    id uuid NOT NULL,
    occurred_at bigint NOT NULL,
    type text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    app text COLLATE "C",
    environment text COLLATE "C",
    transaction_id text COLLATE "C",
    order_number text COLLATE "C",
    customer text COLLATE "C",
    correlation_id text NOT NULL,
    cause uuid,
    stream_offset bigint NOT NULL,
    body text NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (id, occurred_at)
) PARTITION BY RANGE (occurred_at);
CREATE INDEX journal_transaction ON reconciliation.journal (transaction_id) WHERE transaction_id IS NOT NULL;
CREATE INDEX journal_order ON reconciliation.journal (order_number) WHERE order_number IS NOT NULL;
CREATE INDEX journal_customer ON reconciliation.journal (customer, occurred_at) WHERE customer IS NOT NULL;
COMMENT ON TABLE reconciliation.journal IS
    'Every fact of the stream, once; occurred_at in ms since 1970. No user ids and no payloads: facts have none.';

CREATE TABLE reconciliation.journal_position (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    next_offset bigint CHECK (next_offset >= 0),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO reconciliation.journal_position DEFAULT VALUES;
COMMENT ON TABLE reconciliation.journal_position IS
    'Where reading goes on, written in the transaction that records; NULL: at the first message the stream has.';

-- The service owns nothing, so what makes and drops months runs with the owner's rights and does nothing else.
CREATE FUNCTION reconciliation.make_month(at bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $function$
DECLARE
    month timestamptz := date_trunc('month', to_timestamp(at / 1000.0), 'UTC');
    partition text := 'journal_' || to_char(month AT TIME ZONE 'UTC', 'YYYY_MM');
BEGIN
    -- Apple's first purchase, and further ahead than any clock of ours is wrong.
    IF month < '2008-07-01 00:00+00' OR month >= '2200-01-01 00:00+00' THEN
        RAISE EXCEPTION 'no month of the journal' USING ERRCODE = 'check_violation';
    END IF;
    IF to_regclass('reconciliation.' || partition) IS NULL THEN
        EXECUTE format('CREATE TABLE reconciliation.%I PARTITION OF reconciliation.journal FOR VALUES FROM (%s) TO (%s)',
            partition, (extract(epoch FROM month) * 1000)::bigint,
            (extract(epoch FROM month AT TIME ZONE 'UTC' + interval '1 month') * 1000)::bigint);
    END IF;
END
$function$;
COMMENT ON FUNCTION reconciliation.make_month(bigint) IS 'Makes the partition of the month that holds a time (ms since 1970).';

CREATE FUNCTION reconciliation.drop_months(before bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $function$
DECLARE
    kept text := 'journal_' || to_char(to_timestamp(before / 1000.0) AT TIME ZONE 'UTC', 'YYYY_MM');
    partition text;
    dropped bigint := 0;
BEGIN
    FOR partition IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'reconciliation.journal'::regclass AND c.relname COLLATE "C" < kept
    LOOP
        EXECUTE format('DROP TABLE reconciliation.%I', partition);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END
$function$;
COMMENT ON FUNCTION reconciliation.drop_months(bigint) IS
    'Drops the partitions of all months before the one that holds a time (ms since 1970); returns how many.';
REVOKE EXECUTE ON FUNCTION reconciliation.make_month(bigint), reconciliation.drop_months(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION reconciliation.make_month(bigint), reconciliation.drop_months(bigint) TO purser_reconciliation;

REVOKE ALL ON ALL TABLES IN SCHEMA reconciliation FROM PUBLIC;
GRANT SELECT ON reconciliation.schema_migrations TO PUBLIC;
GRANT USAGE ON SCHEMA reconciliation TO purser_reconciliation, purser_auditor;
GRANT SELECT, INSERT ON reconciliation.journal TO purser_reconciliation;
GRANT SELECT ON reconciliation.journal_position TO purser_reconciliation;
GRANT UPDATE (next_offset, updated_at) ON reconciliation.journal_position TO purser_reconciliation;
GRANT SELECT ON reconciliation.journal, reconciliation.journal_position TO purser_auditor;
