-- The first balance or owner that a request has drawn which is not what events say, of tokens that are not marked, or that
-- a holder has whom nothing names; or the balance of who has most, where a supply was drawn that is not the one read.
-- params: tokens bytea[], calls bytea[], words bytea[]
-- literals: none
-- returns: token, holder or null, id of an item or null, the balance by events or null, else the owner; number and hash of
--   the newest block
-- index: tokens_pkey, token_holders_pkey, token_holders_by_balance, item_balances_pkey, token_items_pkey,
--   token_transfers_by_item, unnamed_holders_pkey, blocks_pkey
WITH drawn AS MATERIALIZED (
    SELECT k AS token, c.place, c.word, d.holder, d.item, substr(c.call, 1, 4) = '\x18160ddd' AS is_supply
    FROM unnest(%(tokens)s::bytea[], %(calls)s::bytea[], %(words)s::bytea[])
        WITH ORDINALITY AS c (token, call, word, place)
    JOIN tokens k ON k.address = c.token AND k.ended_in IS NULL
    CROSS JOIN LATERAL (SELECT
        CASE WHEN substr(c.call, 1, 4) IN ('\x70a08231', '\x00fdd58e') THEN substr(c.call, 17, 20) END AS holder,
        CASE substr(c.call, 1, 4) WHEN '\x6352211e' THEN integer_text(substr(c.call, 5, 32))::numeric
            WHEN '\x00fdd58e' THEN integer_text(substr(c.call, 37, 32))::numeric END AS item) AS d
), compared AS (
    SELECT (d.token).address, d.place, d.holder, d.item, CASE WHEN d.item IS NULL
        THEN coalesce((SELECT h.balance FROM token_holders h
            WHERE h.holder = d.holder AND h.token_address = (d.token).address), 0)
        WHEN d.holder IS NOT NULL
        THEN coalesce((SELECT i.balance FROM item_balances i
            WHERE i.holder = d.holder AND i.first_ordinal = first_transfer_of((d.token).address, d.item)), 0)
        END AS balance,
        CASE WHEN d.holder IS NULL THEN (SELECT i.owner FROM token_items i
            WHERE i.token_address = (d.token).address
                AND i.first_ordinal = first_transfer_of((d.token).address, d.item)) END AS owner, d.word
    FROM drawn d
    WHERE NOT d.is_supply AND d.holder IS DISTINCT FROM zero_address()
        AND CASE WHEN is_marked(d.token) THEN d.item IS NULL
            AND NOT EXISTS (SELECT FROM token_holders h
                WHERE h.holder = d.holder AND h.token_address = (d.token).address)
            AND NOT EXISTS (SELECT FROM unnamed_holders u
                WHERE u.holder = d.holder AND u.token_address = (d.token).address)
        WHEN d.holder IS NULL THEN coalesce((d.token).item_type, (d.token).type) = 'BEP721'
        ELSE (d.item IS NOT NULL) = has_amounts((d.token).type) END
)
SELECT c.address, c.holder, c.item, c.balance, c.owner, newest.number, newest.hash
FROM (
    SELECT c.address, c.place, c.holder, c.item, c.balance, c.owner
    FROM compared c
    WHERE c.balance <> integer_text(c.word)::numeric OR c.owner <> substr(c.word, 13, 20)
    UNION ALL
    SELECT (d.token).address, d.place, most.holder, NULL, most.balance, NULL
    FROM drawn d
    CROSS JOIN LATERAL (
        SELECT m.holder, m.balance
        FROM token_holders m
        WHERE m.token_address = (d.token).address
        ORDER BY m.balance DESC, m.holder DESC
        LIMIT 1) AS most
    WHERE d.is_supply AND NOT is_marked(d.token) AND token_supply(d.token) <> integer_text(d.word)::numeric
) AS c
CROSS JOIN (SELECT b.number, b.hash FROM blocks b ORDER BY b.number DESC LIMIT 1) AS newest
ORDER BY c.place
LIMIT 1;
