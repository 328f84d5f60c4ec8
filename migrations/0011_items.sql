-- Items: who owns which id of the tokens that have any, filled from the transfers as indexer/
-- token_items_derive and item_balances_derive would have. A transaction fills tokens of 100,000 transfers
-- together (a longer token by itself), and an interrupted migration goes on from there. The indexer of
-- an older release knows no items: this waits until it is stopped, and begins anew where one has written
-- blocks meanwhile. schema.sql makes the functions, and the index of the transfers.
ALTER TABLE IF EXISTS tokens ADD COLUMN IF NOT EXISTS item_count bigint NOT NULL DEFAULT 0;
ALTER TABLE IF EXISTS addresses ADD COLUMN IF NOT EXISTS item_count bigint;
-- commit
DO $$
BEGIN
    IF to_regclass('token_items') IS NOT NULL THEN
        RETURN;
    END IF;
    CREATE TABLE token_items (
        token_address bytea NOT NULL,
        first_ordinal bigint NOT NULL,
        transfer_count bigint NOT NULL,
        owner bytea,
        owner_count bigint,
        PRIMARY KEY (token_address, first_ordinal)
    );
    CREATE INDEX token_items_by_owner ON token_items (owner, first_ordinal)
        WHERE owner IS NOT NULL;
    CREATE TABLE item_balances (
        holder bytea NOT NULL,
        first_ordinal bigint NOT NULL,
        balance numeric NOT NULL,
        PRIMARY KEY (holder, first_ordinal)
    );
    CREATE INDEX item_balances_by_item ON item_balances (first_ordinal, balance, holder);
    CREATE TABLE tokens_without_items (token_address bytea PRIMARY KEY);
    -- The chain's version that the fill began at: another one means that blocks were written since.
    CREATE TABLE items_fill (version bigint NOT NULL);
    INSERT INTO items_fill VALUES (-1);
END
$$;
-- commit
-- repeat
DO $$
DECLARE
    present_version bigint;
    batch bytea[];
BEGIN
    IF to_regclass('items_fill') IS NULL THEN
        RETURN;
    END IF;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('scan.indexer', 0)) THEN
        RAISE 'an indexer is running' USING ERRCODE = 'lock_not_available',
            HINT = 'An indexer of an older release is running: stop it until the migration is done.';
    END IF;
    present_version := coalesce((SELECT version FROM chain), 0);
    IF present_version <> (SELECT version FROM items_fill) THEN
        TRUNCATE token_items, item_balances, tokens_without_items;
        DELETE FROM list_checkpoints
        WHERE list IN ('token_items_by_token', 'token_transfers_by_item');
        UPDATE tokens SET item_count = 0 WHERE item_count <> 0;
        UPDATE addresses SET item_count = NULL WHERE item_count IS NOT NULL;
        INSERT INTO tokens_without_items
        SELECT address FROM tokens WHERE type IN ('BEP721', 'BEP1155');
        UPDATE items_fill SET version = present_version;
        RETURN;
    END IF;

    batch := ARRAY(
        SELECT token_address
        FROM (
            SELECT w.token_address,
                sum(k.transfer_count) OVER (ORDER BY w.token_address) - k.transfer_count AS before
            FROM tokens_without_items w
            JOIN tokens k ON k.address = w.token_address
        ) AS summed
        WHERE before < 100000
    );
    CREATE TEMPORARY TABLE moved_items ON COMMIT DROP AS
        SELECT m.token_address, m.token_id, m.first_ordinal, m.last_ordinal, m.transfer_count,
            k.type = 'BEP721' AS has_one_owner
        FROM (
            SELECT token_address, token_id, min(ordinal) AS first_ordinal,
                max(ordinal) AS last_ordinal, count(*) AS transfer_count
            FROM token_transfers
            WHERE token_id IS NOT NULL AND token_address = ANY(batch)
            GROUP BY token_address, token_id
        ) AS m
        JOIN tokens k ON k.address = m.token_address;
    ANALYZE moved_items;

    INSERT INTO item_balances (holder, first_ordinal, balance)
    SELECT holder, first_ordinal, sum(amount)
    FROM (
        SELECT m.first_ordinal, p.holder, p.amount
        FROM token_transfers x
        JOIN moved_items m USING (token_address, token_id)
        CROSS JOIN LATERAL (VALUES (x.from_address, -x.value), (x.to_address, x.value))
            AS p (holder, amount)
        WHERE NOT m.has_one_owner AND x.token_address = ANY(batch)
    ) AS moves
    WHERE holder <> '\x0000000000000000000000000000000000000000'::bytea
    GROUP BY holder, first_ordinal
    HAVING sum(amount) <> 0;

    INSERT INTO token_items (token_address, first_ordinal, transfer_count, owner, owner_count)
    SELECT m.token_address, m.first_ordinal, m.transfer_count,
        CASE WHEN m.has_one_owner THEN nullif(
            x.to_address, '\x0000000000000000000000000000000000000000'::bytea) END,
        CASE WHEN NOT m.has_one_owner THEN (
            SELECT count(*) FROM item_balances b
            WHERE b.first_ordinal = m.first_ordinal AND b.balance > 0) END
    FROM moved_items m
    JOIN token_transfers x ON x.ordinal = m.last_ordinal
    ORDER BY m.first_ordinal;

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
            WHERE m.transfer_count > 128 AND x.token_address = ANY(batch)
        ) AS entries
    ) AS counted
    WHERE place > 0 AND place % 128 = 0;

    UPDATE tokens k
    SET item_count = m.items
    FROM (SELECT token_address, count(*) AS items FROM moved_items GROUP BY token_address) AS m
    WHERE k.address = m.token_address;
    UPDATE addresses a
    SET item_count = coalesce(a.item_count, 0) + o.items
    FROM (
        SELECT owner, count(*) AS items
        FROM (
            SELECT i.owner
            FROM token_items i
            WHERE i.owner IS NOT NULL AND i.token_address = ANY(batch)
            UNION ALL
            SELECT b.holder
            FROM moved_items m
            JOIN item_balances b ON b.first_ordinal = m.first_ordinal
            WHERE b.balance > 0
        ) AS owned
        GROUP BY owner
    ) AS o
    WHERE a.address = o.owner;
    DROP TABLE moved_items;
    DELETE FROM tokens_without_items WHERE token_address = ANY(batch);
    IF batch = '{}' THEN
        DROP TABLE items_fill, tokens_without_items;
    END IF;
END
$$;
SELECT 1 WHERE to_regclass('items_fill') IS NOT NULL;
-- commit
SELECT 1;
