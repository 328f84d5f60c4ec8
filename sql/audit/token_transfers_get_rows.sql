-- Token transfers to compare with the node, whole: what is not compared is seen, too.
-- params: block_from bigint, block_to bigint
-- returns: jsonb by column
-- index: token_transfers_pkey, blocks_pkey
SELECT to_jsonb(x)
FROM token_transfers x
WHERE x.ordinal >= (SELECT b.token_transfers_before FROM blocks b WHERE b.number = %(block_from)s)
    AND x.ordinal < (SELECT b.token_transfers_before + b.token_transfer_count FROM blocks b
        WHERE b.number = %(block_to)s);
