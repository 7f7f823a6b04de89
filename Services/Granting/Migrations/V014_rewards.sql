-- The app's own number for what a product gives, told to clients that know rewards by number.

ALTER TABLE granting.product_versions ADD COLUMN reward_id bigint CHECK (reward_id > 0);
COMMENT ON COLUMN granting.product_versions.reward_id IS
    'The app''s number for what one unit gives; told to clients on delivery, decides nothing.';
