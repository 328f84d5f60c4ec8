CREATE OR REPLACE FUNCTION ping_record(z pings, transaction_hash bytea) RETURNS json LANGUAGE sql STABLE
RETURN format('{"transactionHash":"%s","blockNumber":%s,"pinger":"%s"}',
    hex(transaction_hash), z.block_number, hex(z.pinger))::json;
