-- The record of a row of an address's history. `place` is the log's index, the number of the internal
-- transfer or of the withdrawal. The amount is exact: numeric has up to 16,383 digits after the point.
CREATE OR REPLACE FUNCTION history_record(
    type text, direction text, counterparty bytea, amount numeric, symbol text, decimals integer,
    token_address bytea, token_type text, token_id numeric, transaction_hash bytea, method bytea,
    block_number bigint, mined_at timestamptz, transaction_index integer, place bigint,
    batch_index integer, proven boolean, initiator bytea, suspicion text)
RETURNS text LANGUAGE sql STABLE
RETURN format(
    '{"type":"%s","direction":"%s","counterparty":%s,"amount":"%s","amountDecimal":%s,'
    '"symbol":%s,"decimals":%s,"tokenAddress":%s,"tokenType":%s,"tokenId":%s,"transactionHash":%s,'
    '"methodId":%s,"blockNumber":%s,"timestamp":"%s","transactionIndex":%s,"logIndex":%s,'
    '"batchIndex":%s,"transferIndex":%s,"withdrawalIndex":%s,"proven":%s,'
    '"initiatedBy":%s,"suspicious":%s,"unproven":%s}',
    type, direction, json_hex(counterparty), amount,
    coalesce('"' || trim_scale(amount * ('1e-' || decimals)::numeric) || '"', 'null'), json_text(symbol),
    coalesce(decimals::text, 'null'),
    json_hex(token_address), json_text(token_type), coalesce('"' || token_id || '"', 'null'),
    json_hex(transaction_hash), json_hex(method), block_number, iso(mined_at),
    coalesce(transaction_index::text, 'null'),
    CASE WHEN type = 'token_transfer' THEN place::text ELSE 'null' END,
    CASE WHEN type = 'token_transfer' THEN coalesce(batch_index, 0)::text ELSE 'null' END,
    CASE WHEN type = 'internal_transfer' THEN place::text ELSE 'null' END,
    CASE WHEN type = 'withdrawal' THEN place::text ELSE 'null' END,
    coalesce(proven::text, 'null'), json_hex(initiator), json_text(suspicion), CASE WHEN token_address IS NULL THEN '[]'
        ELSE '["amountDecimal","symbol","decimals","tokenType"]' END);
