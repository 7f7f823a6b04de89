-- What reconciliation asks about: ends of certificates, and of the time that Apple gives for answers.

-- When a chain of certificates ends, so that somebody is warned before Apple's signatures are refused.
ALTER TABLE intake.chains ADD COLUMN expires_at bigint;
COMMENT ON COLUMN intake.chains.expires_at IS
    'When the first of leaf and intermediate ends (ms since 1970). NULL: last seen by a version that did not keep it; the next look at the chain, twice a day while it is used, fills it.';

-- Requests that Apple waited for in vain are told to reconciliation for a while; there are few, among many.
CREATE INDEX consumption_expired ON intake.consumption_requests (ended_at) WHERE state = 'expired';
