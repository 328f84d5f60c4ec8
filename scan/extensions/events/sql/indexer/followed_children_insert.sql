-- Adds the child contracts that logs of factories name in a range of blocks. The first log counts that names one,
-- and of several rules for it the one that was added first. In new blocks, those of rules are found as well that are not
-- followed yet; all older blocks, in any ranges, tell whose log it is, and which.
-- Those that were removed are found once their logs are gone.
-- params: block_from bigint, block_to bigint
-- returns: of each that is new, another rule's or another log's than before, the rule's address in followed_contracts
-- index: contract_events_by_topic0, followed_contracts_pkey, followed_contracts_by_factory, blocks_pkey, logs_pkey
WITH named AS MATERIALIZED ( -- else each word is read again for each contract that it is compared with
    SELECT substr(w.word, 13) AS child, f.address AS followed_as, e.block_number, e.ordinal, f.added_at
    FROM followed_contracts f
    JOIN contract_events e
        ON e.address = f.factory AND e.topic0 = decode(f.named_by->>'topic0', 'hex')
        AND e.block_number >= %(block_from)s AND e.block_number <= %(block_to)s
    CROSS JOIN LATERAL (SELECT CASE (f.named_by->>'topic')::integer
        WHEN 1 THEN e.topic1 WHEN 2 THEN e.topic2 WHEN 3 THEN e.topic3
        ELSE substr(event_data(e), (f.named_by->>'offset')::integer + 1, 32) END OFFSET 0) AS w (word)
    WHERE num_nonnulls(e.topic0, e.topic1, e.topic2, e.topic3) = (f.named_by->>'topics')::integer
        AND octet_length(w.word) = 32 AND substr(w.word, 1, 12) = '\x000000000000000000000000'
)
INSERT INTO followed_children AS c (address, followed_as, block_number)
SELECT DISTINCT ON (n.child) n.child, n.followed_as, n.block_number
FROM named n
WHERE n.child NOT IN (SELECT o.address FROM followed_contracts o
    WHERE NOT o.is_automatic OR EXISTS (SELECT FROM followed_contracts r WHERE r.factory = o.address))
ORDER BY n.child, n.ordinal, n.added_at, n.followed_as
ON CONFLICT (address) DO UPDATE SET followed_as = EXCLUDED.followed_as, block_number = EXCLUDED.block_number
WHERE EXCLUDED.block_number <= c.block_number
    AND (EXCLUDED.followed_as, EXCLUDED.block_number) <> (c.followed_as, c.block_number)
    AND EXISTS (SELECT FROM followed_contracts f WHERE f.address = c.followed_as)
RETURNING c.followed_as;
