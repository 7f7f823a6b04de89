-- Erasing users, and guests who register.

CREATE TABLE granting.former_users (
    app text COLLATE "C" NOT NULL CHECK (app <> ''),
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    until bigint NOT NULL,
    customer uuid REFERENCES granting.customers,
    cause uuid NOT NULL,
    PRIMARY KEY (app, digest, until)
);
COMMENT ON TABLE granting.former_users IS
    'Names that meant something else up to an instant (ms since 1970): nobody (erased; customer NULL), or the wallet that a guest gave to a registered user. What was sent before and is handled later is decided by it. Names only as SHA-256 of app, a zero byte and user id.';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON granting.former_users
    FOR EACH STATEMENT EXECUTE FUNCTION granting.refuse_change();

CREATE TABLE granting.user_commands (
    cause uuid PRIMARY KEY,
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('erase', 'transfer')),
    app text COLLATE "C" NOT NULL CHECK (app <> ''),
    request_id uuid NOT NULL,
    subject bytea NOT NULL CHECK (octet_length(subject) = 32),
    outcome text COLLATE "C" NOT NULL
        CHECK (outcome IN ('erased', 'unknown_user', 'transferred', 'unknown_guest', 'user_has_books')),
    customer uuid REFERENCES granting.customers,
    former_id text COLLATE "C",
    actor text NOT NULL CHECK (actor <> ''),
    reason text NOT NULL CHECK (reason <> ''),
    decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT user_commands_once UNIQUE (kind, app, request_id),
    CHECK ((customer IS NULL) = (outcome IN ('unknown_user', 'unknown_guest', 'user_has_books'))),
    CHECK (former_id IS NULL OR outcome = 'transferred')
);
CREATE INDEX user_commands_customer ON granting.user_commands (customer) WHERE former_id IS NOT NULL;
COMMENT ON TABLE granting.user_commands IS
    'What operators decided about users, refusals too: the same request gets the same answer. subject tells requests about others apart (SHA-256). former_id is what a guest was called, until the user is erased.';
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF cause, kind, app, request_id, subject, outcome, customer,
    actor, reason, decided_at ON granting.user_commands
    FOR EACH STATEMENT EXECUTE FUNCTION granting.refuse_change();
CREATE TRIGGER erased_only BEFORE UPDATE OF former_id ON granting.user_commands
    FOR EACH ROW WHEN (NEW.former_id IS NOT NULL) EXECUTE FUNCTION granting.refuse_change();

REVOKE ALL ON granting.former_users, granting.user_commands FROM PUBLIC;
GRANT SELECT ON granting.former_users, granting.user_commands TO purser_granting, purser_auditor;
GRANT INSERT ON granting.former_users, granting.user_commands TO purser_granting;
GRANT UPDATE (former_id) ON granting.user_commands TO purser_granting;
-- Nothing is awaited on the orders of somebody who is gone.
GRANT UPDATE (expires_at) ON granting.orders TO purser_granting;
