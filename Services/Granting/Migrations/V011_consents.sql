-- Consent to telling Apple how much of a purchase was used when its customer asks Apple for a refund.

CREATE TABLE granting.consents (
    customer uuid NOT NULL REFERENCES granting.customers,
    revision bigint NOT NULL CHECK (revision > 0),
    is_given boolean NOT NULL,
    terms_version text CHECK (terms_version <> ''),
    requested_at bigint NOT NULL,
    cause uuid NOT NULL UNIQUE,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (customer, revision),
    CHECK (is_given OR terms_version IS NULL)
);
COMMENT ON TABLE granting.consents IS
    'Every word of a customer about consent to telling Apple how much of a purchase they used; the one with the highest revision is in force, none means no. requested_at is when they said it (ms since 1970). Without a user (erased) no consent counts. Appended to, never changed.';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON granting.consents
    FOR EACH STATEMENT EXECUTE FUNCTION granting.refuse_change();

REVOKE ALL ON granting.consents FROM PUBLIC;
GRANT SELECT ON granting.consents TO purser_granting, purser_auditor;
GRANT INSERT ON granting.consents TO purser_granting;
