-- Contracts with the code that stands at an address now, the oldest first, also where another stands by now.
-- params: address bytea, limit integer, offset bigint, most_counted integer, after_block bigint null,
--   after_address bytea null
-- literals: limit, most_counted
-- returns: one row: index version, whether a contract is indexed at the address, data (JSON text), count in
--   data, total (null: more than most_counted); for cursors: block and address of the last row where more follow
-- index: contracts_by_code_hash, contracts_pkey, verified_contracts_pkey
WITH code AS MATERIALIZED (
    SELECT code_hash FROM contract_at(%(address)s)
), page AS MATERIALIZED (
    SELECT c.address, c.block_number, c.code_hash
    FROM contracts c
    WHERE c.code_hash = (SELECT code_hash FROM code)
        AND (c.block_number, c.address) > (coalesce(%(after_block)s, -1), coalesce(%(after_address)s, ''))
    ORDER BY c.block_number ASC, c.address ASC
    LIMIT %(limit)s
    OFFSET %(offset)s
), last AS (
    SELECT l.block_number, l.address
    FROM (SELECT block_number, address FROM page ORDER BY block_number DESC, address DESC LIMIT 1) AS l
    WHERE (SELECT true
        FROM contracts c
        WHERE c.code_hash = (SELECT code_hash FROM code) AND (c.block_number, c.address) > (l.block_number, l.address)
        LIMIT 1)
)
SELECT index_version(),
    EXISTS (SELECT FROM code),
    json_list(string_agg(format(
        '{"address":"%%s","blockNumber":%%s,"current":%%s,"verified":%%s}',
        hex(page.address), page.block_number, is_code_indexed(page.address, page.code_hash)::text,
        EXISTS (SELECT
            FROM verified_contracts v
            WHERE v.address = page.address AND v.code_hash = page.code_hash
                AND v.match <> 'runtime')::text), ','
        ORDER BY page.block_number ASC, page.address ASC)),
    count(*),
    (SELECT CASE WHEN count(*) <= %(most_counted)s THEN count(*) END
        FROM (
            SELECT
            FROM contracts c
            WHERE c.code_hash = (SELECT code_hash FROM code)
            LIMIT %(most_counted)s + 1
        ) AS counted),
    (SELECT block_number FROM last),
    (SELECT address FROM last)
FROM page;
