-- Stores who may hold of marked tokens though no sum of their events says so: parties of the newest transfers, and
-- addresses in the words of other newest logs, as far as these are stored. An amount is no address: it begins with zeros.
-- params: tokens bytea[], most integer
-- literals: none
-- returns: nothing
-- index: token_transfers_by_token, logs_by_address, token_holders_pkey, unnamed_holders_by_token, unnamed_holders_pkey
INSERT INTO unnamed_holders (holder, token_address)
SELECT named.holder, t.address
FROM unnest(%(tokens)s::bytea[]) AS t (address)
CROSS JOIN LATERAL (
    SELECT p.holder
    FROM (
        SELECT unnest(ARRAY[x.from_address, x.to_address])
        FROM (
            SELECT x.from_address, x.to_address
            FROM token_transfers x
            WHERE x.token_address = t.address
            ORDER BY x.ordinal DESC
            LIMIT %(most)s) AS x
        UNION
        SELECT substr(l.words, 32 * place + 13, 20)
        FROM (
            SELECT l.topics || substr(l.data, 1, 128) AS words
            FROM logs l
            WHERE l.address = t.address
            ORDER BY l.ordinal DESC
            LIMIT %(most)s) AS l
        CROSS JOIN LATERAL generate_series(0, octet_length(l.words) / 32 - 1) AS place
        WHERE substr(l.words, 32 * place + 1, 12) = decode(repeat('00', 12), 'hex')
            AND substr(l.words, 32 * place + 13, 4) <> decode(repeat('00', 4), 'hex')
    ) AS p (holder)
    WHERE p.holder <> zero_address()
        AND NOT EXISTS (SELECT FROM token_holders h WHERE h.holder = p.holder AND h.token_address = t.address)
    LIMIT greatest(0, %(most)s - (SELECT count(*) FROM unnamed_holders u WHERE u.token_address = t.address))
) AS named
ON CONFLICT DO NOTHING;
