-- The record of a memo in its transaction.
CREATE OR REPLACE FUNCTION memo_record(m memos, t transactions, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"text":%s,"textHash":"%s","transactionHash":"%s","blockNumber":%s,"transactionIndex":%s,'
    '"fromAddress":"%s","toAddress":%s,"value":"%s","timestamp":"%s"}',
    json_text(m.text), hex(m.text_hash), hex(t.hash), m.block_number, m.transaction_index,
    hex(t.from_address), json_hex(t.to_address), t.value, iso(mined_at))::json;
