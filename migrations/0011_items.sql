-- Items: who owns which id of the tokens that have any, filled from the transfers as indexer/
-- token_items_derive and item_balances_derive would have. The existing tables get their columns first,
-- in a transaction of their own, so that filling them keeps no reader waiting; schema.sql makes the
-- functions.
ALTER TABLE IF EXISTS tokens ADD COLUMN IF NOT EXISTS item_count bigint NOT NULL DEFAULT 0;
ALTER TABLE IF EXISTS addresses ADD COLUMN IF NOT EXISTS item_count bigint;
-- commit
DO $$
BEGIN
    IF to_regclass('token_items') IS NOT NULL THEN
        RETURN;
    END IF;
    CREATE INDEX token_transfers_by_item
        ON token_transfers (token_address, token_id, ordinal) WHERE token_id IS NOT NULL;
    CREATE TEMPORARY TABLE moved_items ON COMMIT DROP AS
        SELECT m.token_address, m.token_id, m.first_ordinal, m.last_ordinal, m.transfer_count,
            k.type = 'BEP721' AS has_one_owner
        FROM (
            SELECT token_address, token_id, min(ordinal) AS first_ordinal,
                max(ordinal) AS last_ordinal, count(*) AS transfer_count
            FROM token_transfers
            WHERE token_id IS NOT NULL
            GROUP BY token_address, token_id
        ) AS m
        JOIN tokens k ON k.address = m.token_address;
    ANALYZE moved_items;

    CREATE TABLE item_balances (
        holder bytea NOT NULL,
        first_ordinal bigint NOT NULL,
        balance numeric NOT NULL
    );
    INSERT INTO item_balances (holder, first_ordinal, balance)
    SELECT holder, first_ordinal, sum(amount)
    FROM (
        SELECT m.first_ordinal, p.holder, p.amount
        FROM token_transfers x
        JOIN moved_items m USING (token_address, token_id)
        CROSS JOIN LATERAL (VALUES (x.from_address, -x.value), (x.to_address, x.value))
            AS p (holder, amount)
        WHERE NOT m.has_one_owner
    ) AS moves
    WHERE holder <> '\x0000000000000000000000000000000000000000'::bytea
    GROUP BY holder, first_ordinal
    HAVING sum(amount) <> 0;
    ALTER TABLE item_balances ADD PRIMARY KEY (holder, first_ordinal);
    CREATE INDEX item_balances_by_item ON item_balances (first_ordinal, balance, holder);

    CREATE TABLE token_items (
        token_address bytea NOT NULL,
        first_ordinal bigint NOT NULL,
        transfer_count bigint NOT NULL,
        owner bytea,
        owner_count bigint
    );
    INSERT INTO token_items (token_address, first_ordinal, transfer_count, owner, owner_count)
    SELECT m.token_address, m.first_ordinal, m.transfer_count,
        CASE WHEN m.has_one_owner THEN nullif(
            x.to_address, '\x0000000000000000000000000000000000000000'::bytea) END,
        CASE WHEN NOT m.has_one_owner THEN coalesce(o.owners, 0) END
    FROM moved_items m
    JOIN token_transfers x ON x.ordinal = m.last_ordinal
    LEFT JOIN (
        SELECT first_ordinal, count(*) AS owners
        FROM item_balances
        WHERE balance > 0
        GROUP BY first_ordinal
    ) AS o ON o.first_ordinal = m.first_ordinal
    ORDER BY m.first_ordinal;
    ALTER TABLE token_items ADD PRIMARY KEY (token_address, first_ordinal);
    CREATE INDEX token_items_by_owner ON token_items (owner, first_ordinal)
        WHERE owner IS NOT NULL;

    INSERT INTO list_checkpoints (list, key, place, ordinal, block_number)
    SELECT list, key, place, ordinal, block_number
    FROM (
        SELECT list, key, ordinal, block_number,
            row_number() OVER (PARTITION BY list, key ORDER BY ordinal) - 1 AS place
        FROM (
            SELECT 'token_items_by_token' AS list, x.token_address AS key, x.ordinal,
                x.block_number
            FROM moved_items m
            JOIN token_transfers x ON x.ordinal = m.first_ordinal
            UNION ALL
            SELECT 'token_transfers_by_item',
                x.token_address || convert_to(x.token_id::text, 'UTF8'), x.ordinal, x.block_number
            FROM moved_items m
            JOIN token_transfers x USING (token_address, token_id)
            WHERE m.transfer_count > 128
        ) AS entries
    ) AS counted
    WHERE place > 0 AND place % 128 = 0;

    CREATE TEMPORARY TABLE owned_items ON COMMIT DROP AS
        SELECT owner, count(*) AS items
        FROM (
            SELECT owner FROM token_items WHERE owner IS NOT NULL
            UNION ALL
            SELECT holder FROM item_balances WHERE balance > 0
        ) AS owned
        GROUP BY owner;
    UPDATE tokens k
    SET item_count = m.items
    FROM (SELECT token_address, count(*) AS items FROM moved_items GROUP BY token_address) AS m
    WHERE k.address = m.token_address;
    UPDATE addresses a SET item_count = o.items FROM owned_items o WHERE a.address = o.owner;
END
$$;
