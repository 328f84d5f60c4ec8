-- What statements of the release before call, while both are in use.

-- What statements of the release before call, while both are in use.
CREATE OR REPLACE FUNCTION token_record(t tokens) RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"address":"%s","name":%s,"symbol":%s,"decimals":%s,"type":"%s","totalSupply":"%s",'
    '"holderCount":%s}',
    hex(t.address), json_text(t.name), json_text(t.symbol), t.decimals, t.type, token_supply(t),
    t.holder_count)::json;

CREATE OR REPLACE FUNCTION token_detail_record(t tokens, seen_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"address":"%s","name":%s,"symbol":%s,"decimals":%s,"type":"%s","totalSupply":"%s",'
    '"holderCount":%s,"transferCount":%s,"firstSeen":"%s","eventsConsistent":%s,"itemCount":%s}',
    hex(t.address), json_text(t.name), json_text(t.symbol), t.decimals, t.type, token_supply(t),
    t.holder_count, t.transfer_count, iso(seen_at), (t.negative_holder_count = 0)::text,
    CASE WHEN t.type = 'BEP20' THEN 'null' ELSE t.item_count::text END)::json;

CREATE OR REPLACE FUNCTION search_record(
    type text, value text, name text, symbol text, match text)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"type":"%s","value":"%s","name":%s,"symbol":%s,"match":"%s"}',
    type, value, json_text(name), json_text(symbol), match)::json;

CREATE OR REPLACE FUNCTION token_transfer_record(
    x token_transfers, transaction_hash bytea, token_type text, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"transactionHash":"%s","blockNumber":%s,"logIndex":%s,"batchIndex":%s,"tokenAddress":"%s",'
    '"tokenType":"%s","fromAddress":"%s","toAddress":"%s","value":"%s","tokenId":%s,'
    '"timestamp":"%s"}',
    hex(transaction_hash), x.block_number, x.log_index, coalesce(x.batch_index, 0),
    hex(x.token_address), token_type, hex(x.from_address), hex(x.to_address), x.value,
    coalesce('"' || x.token_id || '"', 'null'), iso(mined_at))::json;

CREATE OR REPLACE FUNCTION dex_trade_record(
    d dex_trades, transaction_hash bytea, dex text, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"transactionHash":"%s","blockNumber":%s,"logIndex":%s,"dex":%s,"pairAddress":"%s",'
    '"maker":"%s","tokenIn":"%s","tokenOut":"%s","amountIn":"%s","amountOut":"%s",'
    '"timestamp":"%s"}',
    hex(transaction_hash), d.block_number, d.log_index, json_text(dex), hex(d.pool_address),
    hex(d.maker), hex(d.token_in), hex(d.token_out), d.amount_in, d.amount_out,
    iso(mined_at))::json;

CREATE OR REPLACE FUNCTION page_of_range(
    first bigint, last bigint, skip bigint, size bigint, direction text)
RETURNS TABLE (lowest bigint, highest bigint) LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN direction = 'asc' THEN first + passed
            ELSE greatest(last - passed - (size - 1), first) END,
        CASE WHEN direction = 'asc' THEN least(first + passed + (size - 1), last)
            ELSE last - passed END
    FROM (SELECT least(skip, greatest(last - first + 1, 0)) AS passed) AS known
$$;

CREATE OR REPLACE FUNCTION transaction_record(t transactions, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN (SELECT transaction_record(t, b)::json FROM blocks b WHERE b.number = t.block_number);

CREATE OR REPLACE FUNCTION token_transfer_event(
    x token_transfers, transaction_hash bytea, token_type text, mined_at timestamptz)
RETURNS text LANGUAGE sql STABLE
RETURN (SELECT token_transfer_event(x, t, token_type, mined_at)
    FROM transactions t WHERE t.hash = transaction_hash LIMIT 1);
