-- Answers are kept until the index announces a change, and an address's lists merge ordered halves.
ALTER TABLE chain ADD COLUMN IF NOT EXISTS version bigint NOT NULL DEFAULT 0;

-- schema.sql makes them again, with the conditions that its lists now ask for.
DROP INDEX IF EXISTS transactions_by_to, transactions_by_contract, token_transfers_by_to;

DROP FUNCTION IF EXISTS transactions_of(bytea), token_transfers_of(bytea);
