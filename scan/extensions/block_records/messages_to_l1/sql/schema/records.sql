-- The record of a message to L1. `state` is what the rollup alone can tell: only L1 knows whether it was
-- proved or executed.
CREATE OR REPLACE FUNCTION message_to_l1_record(
    m messages_to_l1, transaction_hash bytea, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"hash":"%s","transactionHash":"%s","blockNumber":%s,"logIndex":%s,"nonce":%s,"sender":"%s",'
    '"target":%s,"value":%s,"gasLimit":%s,"data":%s,"dataSize":%s,"state":"initiated",'
    '"timestamp":"%s"}',
    hex(m.hash), hex(transaction_hash), m.block_number, m.log_index,
    coalesce('"' || m.nonce || '"', 'null'), hex(m.sender), json_hex(m.target),
    coalesce('"' || m.value || '"', 'null'), coalesce('"' || m.gas_limit || '"', 'null'),
    json_hex(m.data), m.data_size, iso(mined_at))::json;
