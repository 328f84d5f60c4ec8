-- Addresses by the balance that was read last, the largest first, of those that have one coin (10^18 wei)
-- or more.
-- params: limit integer, offset bigint, most_counted integer, after_balance numeric null,
--   after_address bytea null
-- literals: limit, most_counted
-- returns: one row: index version, data (JSON text), count in data, total (null: more than most_counted),
--   whether balances are to be read, whether they may change in blocks without traces; for cursors: balance
--   and address of the last row where more follow
-- index: addresses_by_balance, addresses_by_balance_block, addresses_pkey, contracts_pkey, blocks_untraced
WITH page AS MATERIALIZED (
    SELECT a.address, a.balance, a.balance_block, a.transaction_count
    FROM addresses a
    WHERE a.balance >= 1000000000000000000
        AND (a.balance, a.address) < (
            coalesce(%(after_balance)s, 'infinity'), coalesce(%(after_address)s, ''))
    ORDER BY a.balance DESC, a.address DESC
    LIMIT %(limit)s
    OFFSET %(offset)s
), last AS (
    SELECT balance, address
    FROM page
    ORDER BY balance ASC, address ASC
    LIMIT 1
), last_of_more AS (
    SELECT last.balance, last.address
    FROM last
    WHERE EXISTS (
        SELECT
        FROM addresses a
        WHERE a.balance >= 1000000000000000000
            AND (a.balance, a.address) < ((SELECT balance FROM last), (SELECT address FROM last)))
)
SELECT index_version(),
    json_list(string_agg(format(
        '{"address":"%%s","balance":"%%s","balanceBlock":%%s,"txCount":%%s,"isContract":%%s,'
        '"unproven":["balance","isContract"]}',
        hex(page.address), page.balance, page.balance_block,
        page.transaction_count,
        EXISTS (SELECT FROM contract_at(page.address))::text), ','
        ORDER BY page.balance DESC, page.address DESC)),
    count(*),
    (SELECT CASE WHEN count(*) <= %(most_counted)s THEN count(*) END
        FROM (
            SELECT
            FROM addresses a
            WHERE a.balance >= 1000000000000000000
            LIMIT %(most_counted)s + 1
        ) AS counted),
    EXISTS (SELECT FROM addresses a WHERE a.balance_stale),
    newest_untraced_block() >= 0,
    (SELECT balance FROM last_of_more),
    (SELECT address FROM last_of_more)
FROM page;
