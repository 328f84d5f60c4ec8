-- Internal transfers to compare with the node, whole: what is not compared is seen, too.
-- params: block_from bigint, block_to bigint
-- returns: jsonb by column
-- index: internal_transfers_pkey, blocks_pkey
SELECT to_jsonb(i)
FROM internal_transfers i
WHERE i.ordinal >= (SELECT b.internal_transfers_before FROM blocks b WHERE b.number = %(block_from)s)
    AND i.ordinal < (SELECT b.internal_transfers_before + b.internal_transfer_count FROM blocks b
        WHERE b.number = %(block_to)s);
