-- Marks a token of which a request has drawn what its events contradict after the newest block, unless that is another one
-- by now; and notes a holder whom nothing names. Nothing is waited for: who locks these rows is the indexer.
-- params: token bytea, holder bytea null, item numeric null, block bigint, is_holder boolean, most integer
-- literals: none
-- returns: no row where nothing changed
-- index: tokens_pkey, blocks_pkey, token_holders_pkey, unnamed_holders_pkey, unnamed_holders_by_token
WITH free AS MATERIALIZED (
    SELECT k.address
    FROM tokens k
    WHERE k.address = %(token)s AND k.ended_in IS NULL AND NOT is_marked(k)
        AND %(block)s = (SELECT max(b.number) FROM blocks b)
    FOR UPDATE SKIP LOCKED
), marked AS (
    UPDATE tokens k
    SET inconsistent_since = %(block)s,
        contradicted = jsonb_build_array(encode(%(holder)s::bytea, 'hex'), %(item)s::text)
    FROM free
    WHERE k.address = free.address
    RETURNING k.address
), named AS (
    INSERT INTO unnamed_holders (holder, token_address)
    SELECT %(holder)s, %(token)s
    WHERE %(is_holder)s AND NOT EXISTS (
            SELECT FROM token_holders h WHERE h.holder = %(holder)s AND h.token_address = %(token)s)
        AND (SELECT count(*) FROM unnamed_holders u WHERE u.token_address = %(token)s) < %(most)s
    ON CONFLICT DO NOTHING
    RETURNING holder
)
INSERT INTO label_state AS s (version)
SELECT 1
WHERE EXISTS (SELECT FROM marked) OR EXISTS (SELECT FROM named)
ON CONFLICT (only_row) DO UPDATE SET version = s.version + 1
RETURNING pg_notify('scan_chain', 'labels ' || s.version);
