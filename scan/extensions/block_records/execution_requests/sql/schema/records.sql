CREATE OR REPLACE FUNCTION request_type_name(type bytea) RETURNS text LANGUAGE sql IMMUTABLE
RETURN (ARRAY['deposit', 'withdrawal', 'consolidation', 'builder_deposit', 'builder_exit'])[get_byte(type, 0) + 1];

-- An unsigned integer of eight bytes, of which the least comes first.
CREATE OR REPLACE FUNCTION little_endian(bytes bytea) RETURNS numeric LANGUAGE sql IMMUTABLE
RETURN (SELECT sum(get_byte(bytes, i) * 256::numeric ^ i)::numeric(20, 0) FROM generate_series(0, 7) AS i);

-- The record of a request. Amounts are in wei; a withdrawal of 0 is the exit of the validator.
CREATE OR REPLACE FUNCTION execution_request_record(
    q execution_requests, transaction_hash bytea, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"type":"%s","transactionHash":"%s","blockNumber":%s,"transactionIndex":%s,"logIndex":%s,'
    '"timestamp":"%s","address":%s,"pubkey":"%s","amount":%s,"withdrawalCredentials":%s,"signature":%s,'
    '"depositIndex":%s,"targetPubkey":%s}',
    request_type_name(q.type), hex(transaction_hash), q.block_number, q.transaction_index, q.log_index,
    iso(mined_at), json_hex(q.address), hex(q.pubkey),
    CASE
        WHEN q.type IN ('\x00', '\x03')
            THEN '"' || little_endian(substr(q.details, 33, 8)) * 1000000000 || '"'
        WHEN q.type = '\x01' THEN '"' || little_endian(q.details) * 1000000000 || '"'
        ELSE 'null' END,
    CASE WHEN q.type IN ('\x00', '\x03') THEN json_hex(substr(q.details, 1, 32)) ELSE 'null' END,
    CASE WHEN q.type IN ('\x00', '\x03') THEN json_hex(substr(q.details, 41, 96)) ELSE 'null' END,
    CASE q.type WHEN '\x00' THEN little_endian(substr(q.details, 137, 8))::text ELSE 'null' END,
    CASE q.type WHEN '\x02' THEN json_hex(q.details) ELSE 'null' END)::json;
