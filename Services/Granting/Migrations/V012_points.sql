-- What the points surface needs: a token a user, what a wallet ever spent, and the books in document B's words.

-- The token of a user, beside those of orders: issued once, the same for ever.
CREATE UNIQUE INDEX tokens_one_a_user ON granting.tokens (customer) WHERE order_number IS NULL;
COMMENT ON TABLE granting.tokens IS
    'Every appAccountToken ever issued and its customer, stored before it is told to anybody, kept for ever. Without order_number: the token of the user, one a customer.';

ALTER TABLE granting.accounts ADD COLUMN spent bigint NOT NULL DEFAULT 0
    CONSTRAINT accounts_spent_not_negative CHECK (spent >= 0);
UPDATE granting.accounts AS a SET spent = l.spent
FROM (SELECT customer, asset, sum(amount)::bigint AS spent FROM granting.ledger
    WHERE source_type = 'APP_USAGE' AND direction = 'OUT' GROUP BY customer, asset) AS l
WHERE a.customer = l.customer AND a.asset = l.asset;
COMMENT ON COLUMN granting.accounts.spent IS
    'Σ of the ledger''s APP_USAGE lines. balance + spent is what was ever earned: what a refund took back was not.';
GRANT UPDATE (spent) ON granting.accounts TO purser_granting;

-- For support: each line of the books as document B names it, with its metadata. biz_id is the same for the same purchase.
CREATE VIEW granting.points_ledger AS
SELECT l.id, c.app, c.customer, c.user_id, l.asset,
    CASE l.source_type WHEN 'APPLE_IAP' THEN 'purchase' WHEN 'APPLE_REFUND' THEN 'refund'
        WHEN 'APPLE_REFUND_REVERSED' THEN 'refund_reversed' WHEN 'APP_USAGE' THEN 'consume' ELSE 'adjust' END
        AS change_type,
    CASE l.direction WHEN 'IN' THEN 1 ELSE -1 END AS direction,
    CASE WHEN l.source_type = 'APP_USAGE' THEN 'usage' ELSE 'payment' END AS biz_type,
    CASE WHEN t.transaction_id IS NULL THEN l.source_id
        ELSE md5(t.environment || '/' || t.transaction_id)::uuid::text END AS biz_id,
    -- The first line of a purchase or refund has document B's name; later changes of a refund add their number.
    CASE WHEN l.source_type = 'APPLE_IAP' THEN 'payment.apple_iap:' || t.transaction_id
        WHEN l.source_type = 'APPLE_REFUND' AND split_part(l.source_id, '/', 2) = '1'
            THEN 'refund.apple_iap:' || t.transaction_id
        WHEN l.source_type IN ('APPLE_REFUND', 'APPLE_REFUND_REVERSED')
            THEN 'refund.apple_iap:' || t.transaction_id || ':' || split_part(l.source_id, '/', 2)
        ELSE lower(l.source_type) || ':' || l.source_id END AS event_id,
    l.amount, l.balance_after, l.created_at,
    CASE WHEN t.transaction_id IS NULL THEN '{}'::jsonb ELSE jsonb_strip_nulls(jsonb_build_object(
        'source', 'apple_iap', 'platform', 'ios', 'product_code', v.code, 'app_store_product_id', t.product_id,
        'transaction_id', t.transaction_id, 'original_transaction_id', t.original_transaction_id,
        'environment', t.environment, 'apple_iap_transaction_id', md5(t.environment || '/' || t.transaction_id)::uuid,
        'original_event_id', CASE WHEN l.source_type LIKE 'APPLE_REFUND%'
            THEN 'payment.apple_iap:' || t.transaction_id END,
        'refund_reason', CASE WHEN l.source_type LIKE 'APPLE_REFUND%' THEN t.revocation_reason END,
        'overdue_amount', CASE WHEN l.source_type LIKE 'APPLE_REFUND%' THEN coalesce(d.amount - d.settled, 0) END))
        END AS metadata
FROM granting.ledger l
JOIN granting.customers c ON c.customer = l.customer
LEFT JOIN granting.grants g ON l.environment <> '' AND l.source_type LIKE 'APPLE\_%'
    AND g.environment = l.environment AND g.transaction_id = split_part(l.source_id, '/', 1)
LEFT JOIN granting.transactions t ON t.environment = g.environment AND t.transaction_id = g.transaction_id
LEFT JOIN granting.product_versions v ON v.app = g.app AND v.product_id = g.product_id AND v.version = g.product_version
LEFT JOIN granting.debts d ON d.environment = g.environment AND d.transaction_id = g.transaction_id
    AND d.asset = l.asset;
COMMENT ON VIEW granting.points_ledger IS
    'The ledger in the words of the points app''s documents (change_type, biz_type, event_id, metadata), for support and exports. refund_reason is Apple''s number: 0 other, 1 an issue with the app.';

-- Apple's transactions in the same documents' words.
CREATE VIEW granting.apple_iap_transactions AS
SELECT md5(t.environment || '/' || t.transaction_id)::uuid AS id, t.app, t.owner AS customer, c.user_id,
    v.code AS product_code, t.product_id AS app_store_product_id, t.transaction_id, t.original_transaction_id,
    t.web_order_line_item_id, t.environment, t.bundle_id, t.app_account_token,
    to_timestamp(t.purchase_date / 1000.0) AS purchase_date,
    to_timestamp(t.revocation_date / 1000.0) AS revocation_date,
    CASE WHEN g.transaction_id IS NULL THEN
            CASE WHEN t.revoked_share = 100000 THEN 'revoked' ELSE 'verified' END
        WHEN g.applied_share < 100000 THEN 'granted'
        WHEN d.open > 0 THEN 'refunded_insufficient' ELSE 'refunded' END AS status,
    l.credits, t.currency, t.price AS price_milliunits,
    CASE WHEN g.transaction_id IS NOT NULL THEN 'payment.apple_iap:' || t.transaction_id END AS ledger_event_id,
    CASE WHEN d.open > 0 THEN 'INSUFFICIENT_BALANCE' ELSE t.held_reason END AS failure_code,
    jsonb_build_object('overdue_amount', coalesce(d.open, 0)) AS metadata, t.created_at, t.updated_at
FROM granting.transactions t
LEFT JOIN granting.customers c ON c.customer = t.owner
LEFT JOIN granting.grants g ON g.environment = t.environment AND g.transaction_id = t.delivered_by
LEFT JOIN granting.product_versions v ON v.app = g.app AND v.product_id = g.product_id AND v.version = g.product_version
CROSS JOIN LATERAL (SELECT sum(l.amount) AS credits FROM granting.lots l
    WHERE l.environment = g.environment AND l.transaction_id = g.transaction_id) AS l
CROSS JOIN LATERAL (SELECT sum(d.amount - d.settled) AS open FROM granting.debts d
    WHERE d.environment = g.environment AND d.transaction_id = g.transaction_id) AS d;
COMMENT ON VIEW granting.apple_iap_transactions IS
    'Transactions in the words of the points app''s documents. The signed text is Verification''s: verification.evidence.';

REVOKE ALL ON granting.points_ledger, granting.apple_iap_transactions FROM PUBLIC;
GRANT SELECT ON granting.points_ledger, granting.apple_iap_transactions TO purser_auditor;
