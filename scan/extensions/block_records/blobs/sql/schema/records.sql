CREATE OR REPLACE FUNCTION blob_record(o blobs, t transactions, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"versionedHash":"%s","transactionHash":"%s","blockNumber":%s,"transactionIndex":%s,"blobIndex":%s,'
    '"timestamp":"%s","fromAddress":"%s","toAddress":%s}',
    hex(o.versioned_hash), hex(t.hash), o.block_number, o.transaction_index, o.blob_index, iso(mined_at),
    hex(t.from_address), json_hex(t.to_address))::json;
