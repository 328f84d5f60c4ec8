-- The record of a user operation, whose logs are `firstLogIndex` to `logIndex`.
CREATE OR REPLACE FUNCTION user_operation_record(
    u user_operations, transaction_hash bytea, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"hash":"%s","transactionHash":"%s","blockNumber":%s,"transactionIndex":%s,"logIndex":%s,'
    '"firstLogIndex":%s,"entryPoint":"%s","sender":"%s","paymaster":%s,"bundler":"%s",'
    '"nonce":"%s","success":%s,"fee":"%s","gasUsed":"%s","factory":%s,"revertData":%s,'
    '"timestamp":"%s"}',
    hex(u.hash), hex(transaction_hash), u.block_number, u.transaction_index, u.log_index,
    coalesce(u.first_log_index::text, 'null'), hex(u.entry_point), hex(u.sender),
    json_hex(u.paymaster), hex(u.bundler), u.nonce, u.success::text, u.fee, u.gas_used,
    json_hex(u.factory), json_hex(u.revert_data), iso(mined_at))::json;
