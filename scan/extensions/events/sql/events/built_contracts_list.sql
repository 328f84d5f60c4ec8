-- Contracts with the code of a build of the operator's that are not followed, nor as children, nor were removed.
-- params: most integer
-- returns: address and name of the contract in its build, the oldest first; how many there are, some of each code
--   at most; and how many are followed by themselves already
-- index: built_abis_pkey, contracts_by_code_hash, followed_children_pkey
SELECT k.address, min(b.contract_name), count(*) OVER (),
    (SELECT count(*) FROM followed_contracts f WHERE f.is_automatic)
FROM built_abis b
CROSS JOIN LATERAL (
    SELECT o.address, o.block_number
    FROM contracts o
    WHERE o.code_hash = b.code_hash
        AND NOT EXISTS (SELECT FROM followed_children n WHERE n.address = o.address)
    ORDER BY o.block_number, o.address
    -- Of which one more than `most` are left where there are so many.
    LIMIT %(most)s + 1 + (SELECT count(*) FROM followed_contracts) + (SELECT count(*) FROM unfollowed_contracts)
) AS k
WHERE NOT EXISTS (SELECT FROM followed_contracts f WHERE f.address = k.address)
    AND NOT EXISTS (SELECT FROM unfollowed_contracts u WHERE u.address = k.address)
GROUP BY k.address
ORDER BY min(k.block_number), k.address
LIMIT %(most)s;
