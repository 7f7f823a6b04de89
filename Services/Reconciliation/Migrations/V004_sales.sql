-- What Apple counted as sold, by its own days, as operators hand it in.

CREATE TABLE reconciliation.sales_reports (
    report uuid PRIMARY KEY,
    app text COLLATE "C" NOT NULL,
    begin_day date NOT NULL,
    end_day date NOT NULL,
    parts bigint NOT NULL CHECK (parts BETWEEN 1 AND 1000),
    actor text NOT NULL,
    imported_at bigint NOT NULL,
    compared_at bigint,
    CHECK (begin_day <= end_day)
);
CREATE INDEX sales_reports_days ON reconciliation.sales_reports (app, begin_day, end_day, imported_at);
COMMENT ON TABLE reconciliation.sales_reports IS
    'Sales reports of App Store Connect; of several about the same days of an app the last one that is whole counts.';
COMMENT ON COLUMN reconciliation.sales_reports.compared_at IS
    'When it was last compared with the purchases (ms since 1970).';

CREATE TABLE reconciliation.sales_parts (
    report uuid NOT NULL REFERENCES reconciliation.sales_reports,
    part bigint NOT NULL CHECK (part >= 1),
    PRIMARY KEY (report, part)
);
COMMENT ON TABLE reconciliation.sales_parts IS 'Which parts of a report are there: whole ones are compared.';

CREATE TABLE reconciliation.sales_lines (
    report uuid NOT NULL REFERENCES reconciliation.sales_reports,
    product_id text COLLATE "C" NOT NULL,
    storefront text COLLATE "C" NOT NULL,
    sold bigint NOT NULL CHECK (sold >= 0),
    refunded bigint NOT NULL CHECK (refunded >= 0),
    commission bigint,
    PRIMARY KEY (report, product_id, storefront)
);
COMMENT ON TABLE reconciliation.sales_lines IS
    'Units of a product in a storefront; commission is what Apple kept of the price (thousandths of a per cent).';

-- Refunds count on the day they were given.
CREATE INDEX purchases_refunded ON reconciliation.purchases (app, environment, revocation_date)
    WHERE revocation_date IS NOT NULL;

REVOKE ALL ON reconciliation.sales_reports, reconciliation.sales_parts, reconciliation.sales_lines FROM PUBLIC;
GRANT SELECT, INSERT ON reconciliation.sales_reports, reconciliation.sales_parts, reconciliation.sales_lines
    TO purser_reconciliation;
GRANT UPDATE (compared_at) ON reconciliation.sales_reports TO purser_reconciliation;
GRANT SELECT ON reconciliation.sales_reports, reconciliation.sales_parts, reconciliation.sales_lines TO purser_auditor;
