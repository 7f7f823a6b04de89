-- What Apple told and what was made of it can be added to, never changed or removed, by nobody: rights forbid it to the
-- service, this forbids it to the owner too.

CREATE FUNCTION intake.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
    RAISE EXCEPTION '%.% is append-only: % is refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$function$;
REVOKE EXECUTE ON FUNCTION intake.refuse_change() FROM PUBLIC;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON intake.headers
    FOR EACH STATEMENT EXECUTE FUNCTION intake.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON intake.redrives
    FOR EACH STATEMENT EXECUTE FUNCTION intake.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON intake.facts
    FOR EACH STATEMENT EXECUTE FUNCTION intake.refuse_change();
-- All but the counters.
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF environment, notification_uuid, sequence, app, type,
    subtype, is_known, transaction_id, original_transaction_id, product_id, subscription_status, signed_date, received_at,
    stored_at, header, payload, signature, message, correlation_id ON intake.notifications
    FOR EACH STATEMENT EXECUTE FUNCTION intake.refuse_change();
