-- A card that is owned for ever and was paid again waits for support.

ALTER TABLE granting.transactions DROP CONSTRAINT transactions_held_reason_check;
ALTER TABLE granting.transactions ADD CONSTRAINT transactions_held_reason_check
    CHECK (held_reason IN ('unknown_product', 'sandbox_policy', 'product_type_mismatch', 'family_shared',
        'amount_overflow', 'not_deliverable', 'token_required', 'ineligible', 'identity_unknown',
        'owned_permanently'));
