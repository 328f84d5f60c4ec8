-- One transaction by its hash, with its number of confirmations (its own block included), and its first
-- user operations if it has any.
-- params: hash bytea
-- literals: none
-- returns: one row: index version, the record as JSON text or null
-- index: transactions_by_hash, blocks_pkey, user_operations_pkey, authorizations_pkey,
--   messages_to_l1_pkey, transactions_by_ticket
SELECT index_version(), (
    SELECT left(transaction_record(t, b), -1)
        || CASE WHEN has_own_fields(t) THEN '' ELSE ',' || transaction_details(t) END
        || coalesce((
            SELECT format(',"userOperationCount":%%s,"userOperations":%%s', max(o.total), json_list(
                string_agg(user_operation_record(o.u, t.hash, b.timestamp)::text,
                    ',' ORDER BY o.position)))
            FROM (
                SELECT u, row_number() OVER (ORDER BY u.ordinal) AS position, count(*) OVER () AS total
                FROM user_operations u
                WHERE u.ordinal BETWEEN first_ordinal_in(b.number) AND last_ordinal_in(b.number)
                    AND u.transaction_index = t.transaction_index
            ) AS o
            WHERE o.position <= 25
            HAVING count(*) > 0), '')
        || transaction_authorizations(t)
        || CASE WHEN t.type = '\x69' THEN coalesce(',"redemptions":' || (
            SELECT json_agg(hex(f.hash))::text
            FROM (
                SELECT r.hash
                FROM transactions r
                WHERE r.type = '\x68'
                    AND substring(r.chain_fields FROM '"ticketId":"(0x[0-9a-f]{64})"') = hex(t.hash)
                ORDER BY r.ordinal
                LIMIT 25) AS f), '') ELSE '' END
        || coalesce(',"messagesToL1":' || (
            SELECT json_agg(message_to_l1_record(f.message, t.hash, b.timestamp))::text
            FROM (
                SELECT m AS message
                FROM messages_to_l1 m
                WHERE m.ordinal BETWEEN first_ordinal_in(t.block_number)
                        AND last_ordinal_in(t.block_number)
                    AND m.transaction_index = t.transaction_index
                ORDER BY m.ordinal
                LIMIT 25) AS f), '')
        || ',"confirmations":' || (SELECT max(h.number) FROM blocks h) - b.number + 1 || '}'
    FROM transactions t
    JOIN blocks b ON b.number = t.block_number
    WHERE t.hash = %(hash)s AND t.block_number >= first_kept_block()
    LIMIT 1);
