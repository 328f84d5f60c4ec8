-- What is stored of blocks, which is nothing of those without transactions. A body is given where those before
-- it and, unless it is `whatever_size`, it have at most so many bytes together; their sizes are known without
-- them.
-- params: numbers bigint[], most_bytes bigint, whatever_size boolean
-- literals: none
-- returns: for each of these blocks that is stored, in this order, its number, its hash, digest, whether its body
--   is not given, body (null without transactions)
-- index: blocks_pkey, block_bodies_pkey
SELECT number, hash, digest, size_before > %(most_bytes)s,
    CASE WHEN size_before <= %(most_bytes)s THEN body END
FROM (
    SELECT b.number, b.hash, s.digest, s.body, r.position,
        coalesce(sum(octet_length(s.body)) OVER (ORDER BY r.position), 0)
            - CASE WHEN %(whatever_size)s THEN coalesce(octet_length(s.body), 0) ELSE 0 END
            AS size_before
    FROM unnest(%(numbers)s::bigint[]) WITH ORDINALITY AS r (block_number, position)
    JOIN blocks b ON b.number = r.block_number
    LEFT JOIN block_bodies s ON s.block_number = b.number
    WHERE s.block_number IS NOT NULL OR b.transaction_count = 0
) AS sized
ORDER BY position;
