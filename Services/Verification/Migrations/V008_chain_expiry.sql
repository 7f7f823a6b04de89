-- When a chain of certificates ends, so that somebody is warned before Apple's signatures are refused.
ALTER TABLE verification.chains ADD COLUMN expires_at bigint;
COMMENT ON COLUMN verification.chains.expires_at IS
    'When the first of leaf and intermediate ends (ms since 1970). NULL: last seen by a version that did not keep it; the next look at the chain, twice a day while it is used, fills it.';
