-- The daily run: one row an app and day with its report, one line a purchase, and what operators asked for.

CREATE TABLE reconciliation.runs (
    app text COLLATE "C" NOT NULL,
    day date NOT NULL,
    time_zone text NOT NULL,
    from_at bigint NOT NULL,
    to_at bigint NOT NULL CHECK (to_at > from_at),
    state text COLLATE "C" NOT NULL CHECK (state IN ('running', 'done')),
    place_environment text COLLATE "C",
    place_transaction text COLLATE "C",
    began_at bigint NOT NULL,
    ended_at bigint,
    totals jsonb,
    markdown text,
    html text,
    PRIMARY KEY (app, day),
    CHECK (state = 'running' OR ended_at IS NOT NULL AND totals IS NOT NULL AND markdown IS NOT NULL AND html IS NOT NULL)
);
COMMENT ON TABLE reconciliation.runs IS
    'A day of an app, compared: its bounds by the app''s clock (ms since 1970), and the report. Made again as often as wanted; kept for REPORT_DAYS.';
COMMENT ON COLUMN reconciliation.runs.place_transaction IS 'The last line compared: where a run that was broken off goes on.';

CREATE TABLE reconciliation.run_lines (
    app text COLLATE "C" NOT NULL,
    day date NOT NULL,
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('Production', 'Sandbox')),
    transaction_id text COLLATE "C" NOT NULL,
    verified_at bigint,
    customer text COLLATE "C",
    product_id text COLLATE "C",
    quantity bigint,
    purchase_date bigint,
    price bigint,
    currency text COLLATE "C",
    storefront text COLLATE "C",
    order_number text COLLATE "C",
    order_status text COLLATE "C",
    grant_status text COLLATE "C",
    refund_status text COLLATE "C",
    granted_at bigint,
    refunded_at bigint,
    refund_told_at bigint,
    amounts text,
    ledger text,
    differences text,
    PRIMARY KEY (app, day, environment, transaction_id),
    FOREIGN KEY (app, day) REFERENCES reconciliation.runs ON DELETE CASCADE
) WITH (fillfactor = 60);
COMMENT ON TABLE reconciliation.run_lines IS
    'A purchase of a day, or one whose refund was told that day, with what each book says of it. Customers are ids, no persons. Kept for LINE_DAYS.';

CREATE TABLE reconciliation.run_requests (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    day date NOT NULL,
    app text COLLATE "C",
    cause uuid NOT NULL UNIQUE,
    requested_at bigint NOT NULL,
    done_at bigint
);
COMMENT ON TABLE reconciliation.run_requests IS
    'A run that an operator asked for; without app: of all apps. cause is the message.';

REVOKE ALL ON reconciliation.runs, reconciliation.run_lines, reconciliation.run_requests FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON reconciliation.runs, reconciliation.run_lines TO purser_reconciliation;
GRANT SELECT, INSERT ON reconciliation.run_requests TO purser_reconciliation;
GRANT UPDATE (done_at) ON reconciliation.run_requests TO purser_reconciliation;
GRANT SELECT ON reconciliation.runs, reconciliation.run_lines, reconciliation.run_requests TO purser_auditor;
