-- The reason for which an authorization had no effect; null where it had, or where that is not known.
CREATE OR REPLACE FUNCTION invalid_reason(a authorizations) RETURNS text LANGUAGE sql IMMUTABLE
RETURN coalesce(a.fault, CASE WHEN NOT a.is_valid THEN
    CASE WHEN a.authority_nonce IS NULL THEN 'authority_has_code' ELSE 'wrong_nonce' END END);

-- The record of an authorization. `untilBlock` has the account's next one in effect, which replaced it.
CREATE OR REPLACE FUNCTION authorization_record(
    a authorizations, transaction_hash bytea, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"transactionHash":"%s","blockNumber":%s,"transactionIndex":%s,"authorizationIndex":%s,'
    '"authority":%s,"delegate":"%s","chainId":"%s","nonce":%s,"yParity":%s,"r":"%s","s":"%s",'
    '"valid":%s,"invalidReason":%s,"authorityNonce":%s,"untilBlock":%s,"timestamp":"%s"}',
    hex(transaction_hash), a.block_number, a.transaction_index, a.authorization_index,
    json_hex(a.authority), hex(a.delegate), integer_text(a.chain_id), integer_text(a.nonce),
    integer_text(a.y_parity), hex_quantity(a.signature_r), hex_quantity(a.signature_s),
    coalesce(a.is_valid::text, 'null'), coalesce('"' || invalid_reason(a) || '"', 'null'),
    coalesce(a.authority_nonce::text, 'null'),
    coalesce((
        SELECT n.block_number::text
        FROM authorizations n
        WHERE a.is_valid AND n.authority = a.authority AND n.ordinal > a.ordinal
            AND n.is_valid IS NOT FALSE AND n.fault IS NULL
        ORDER BY n.ordinal ASC
        LIMIT 1), 'null'),
    iso(mined_at))::json;
