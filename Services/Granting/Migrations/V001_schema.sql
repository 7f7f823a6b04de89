-- The schema of Granting: customers, orders, catalogue, transactions, grants, wallets, ledger.
-- Every rule the business has is a constraint here too: a second net under the code that decides.
-- Ids are compared byte by byte (COLLATE "C"), so the database sorts and locks in the order the code sorts in.

DO $roles$
BEGIN
    -- Where the roles are made by whoever sets the cluster up, this finds them; a bare cluster gets them without login.
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'purser_granting') THEN
        CREATE ROLE purser_granting NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'purser_auditor') THEN
        CREATE ROLE purser_auditor NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;  -- another database of this cluster made them at the same moment
END
$roles$;

CREATE SCHEMA IF NOT EXISTS granting;

-- For tables that are only ever appended to; rights forbid the same, but an owner or superuser has all rights.
CREATE FUNCTION granting.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
    RAISE EXCEPTION '%.% is append-only: % is refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$function$;
