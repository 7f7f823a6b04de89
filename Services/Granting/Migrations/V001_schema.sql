-- The schema of Granting: customers, orders, catalogue, transactions, grants, wallets, ledger.
-- Every rule the business has is a constraint here too: a second net under the code that decides.
-- The schema itself and the roles are made by the deployment script; purser_migrator owns both and runs this.
-- Ids are compared byte by byte (COLLATE "C"), so the database sorts and locks in the order the code sorts in.

-- For tables that are only ever appended to; rights forbid the same, but an owner or superuser has all rights.
CREATE FUNCTION granting.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
    RAISE EXCEPTION '%.% is append-only: % is refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$function$;
