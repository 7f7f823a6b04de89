-- What was told and what it rests on can be added to, never changed or removed, by nobody: rights forbid it to the
-- service, this forbids it to the owner too.

CREATE FUNCTION verification.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
    RAISE EXCEPTION '%.% is append-only: % is refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$function$;
REVOKE EXECUTE ON FUNCTION verification.refuse_change() FROM PUBLIC;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON verification.headers
    FOR EACH STATEMENT EXECUTE FUNCTION verification.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON verification.facts
    FOR EACH STATEMENT EXECUTE FUNCTION verification.refuse_change();
-- All but submitter: erasing a person will have to take it out.
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF environment, transaction_id, signed_date, payload_hash,
    app, header, payload, signature, order_number, message, correlation_id, verified_at ON verification.evidence
    FOR EACH STATEMENT EXECUTE FUNCTION verification.refuse_change();
