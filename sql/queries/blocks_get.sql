-- One block by its number or its hash, or the newest where neither is given, with its number of
-- confirmations (itself included), and if it has any its withdrawals, its reward for proof of work, its
-- uncles and its numbers of blobs and requests.
-- params: number bigint null, hash bytea null, has_number boolean, has_hash boolean
-- literals: has_number, has_hash
-- returns: one row: index version, the record as JSON text or null
-- index: blocks_pkey, blocks_hash_key, withdrawals_pkey, credits_pkey, uncles_pkey,
--   blobs_pkey, execution_requests_pkey
SELECT index_version(), (
    SELECT left(block_record(b)::text, -1)
        || ',"confirmations":' || (SELECT max(h.number) FROM blocks h) - b.number + 1
        || CASE WHEN b.withdrawal_count > 0 AND b.number >= first_kept_block() THEN ',"withdrawals":' || json_list((
            SELECT string_agg(withdrawal_record(w)::text, ',' ORDER BY w.withdrawal_index)
            FROM withdrawals w WHERE w.block_number = b.number)) ELSE '' END
        || coalesce(',"miningReward":"' || (
            SELECT c.amount_wei FROM credits c
            WHERE c.ordinal = first_ordinal_in(b.number) AND c.type = 2) || '"', '')
        || coalesce(',"uncles":[' || (
            SELECT string_agg(uncle_record(u, c.amount_wei)::text, ',' ORDER BY u.ordinal)
            FROM uncles u
            LEFT JOIN credits c ON c.ordinal = u.ordinal AND c.type = 3
            WHERE u.ordinal BETWEEN first_ordinal_in(b.number) AND last_ordinal_in(b.number)) || ']', '')
        || coalesce(',"blobCount":' || nullif((
            SELECT count(*) FROM blobs o
            WHERE o.ordinal BETWEEN first_ordinal_in(b.number) AND last_ordinal_in(b.number)), 0), '')
        || coalesce((
            SELECT coalesce(',"requestsHash":"' || hex(b.requests_hash) || '"', '')
                || ',"requestCount":' || s.requests
            FROM (SELECT count(*) AS requests FROM execution_requests q
                WHERE q.ordinal BETWEEN first_ordinal_in(b.number) AND last_ordinal_in(b.number)) AS s
            WHERE s.requests > 0 OR b.requests_hash <> sha256('')), '')
        || coalesce(',"blockAccessListHash":"' || hex(b.block_access_list_hash) || '"', '')
        || coalesce(',"slotNumber":' || b.slot_number, '')
        || coalesce(',"chainFields":' || b.chain_fields, '') || '}'
    FROM blocks b
    WHERE (NOT %(has_number)s OR b.number = %(number)s)
        AND (NOT %(has_hash)s OR b.hash = %(hash)s)
        AND (%(has_number)s OR %(has_hash)s OR b.number = (SELECT max(number) FROM blocks)));
