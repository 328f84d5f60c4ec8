-- Verified contracts whose code has a length; of more than 100
-- verifications the full ones first, then the oldest.
-- params: code_length integer
-- literals: none
-- returns: one row: index version, JSON array of {address, maskedHash, variable}
-- index: verified_contracts_by_code_length
SELECT index_version(), (
    SELECT json_list(string_agg(format(
        '{"address":"%%s","maskedHash":"%%s","variable":%%s}',
        hex(v.address), hex(v.masked_hash), json_text(v.variable_ranges)), ','))
    FROM (
        SELECT address, masked_hash, variable_ranges
        FROM verified_contracts
        WHERE code_length = %(code_length)s AND is_indexed AND match <> 'runtime'
        ORDER BY match, verified_at, address
        LIMIT 100
    ) AS v);
