-- Where the pass over all wallets goes on: by customer, of whom there is no number. value counts the passes.

ALTER TABLE reconciliation.cursors ADD COLUMN place text COLLATE "C";
INSERT INTO reconciliation.cursors (name, value) VALUES ('books', 0);
COMMENT ON COLUMN reconciliation.cursors.place IS 'The last customer compared; NULL: a pass begins.';
GRANT UPDATE (place) ON reconciliation.cursors TO purser_reconciliation;
