-- When code ran at an address, and what compilers say of verified contracts besides their interfaces.

-- contracts_between() with the transaction in its first block from which on each stood: what created it, unless
-- another stood until then. The planner inlines it.
CREATE OR REPLACE FUNCTION contract_spans(at bytea, first bigint, last bigint)
RETURNS TABLE (code_hash bytea, first_block bigint, first_index integer, last_block bigint)
LANGUAGE sql STABLE AS $$
    SELECT c.code_hash, c.first_block, CASE WHEN (
            SELECT o.code_hash
            FROM contracts o
            WHERE o.address = at AND o.block_number < c.first_block
            ORDER BY o.block_number DESC
            LIMIT 1) IS NULL
        THEN coalesce((SELECT n.transaction_index FROM creation_in(at, c.first_block) AS n), 0) ELSE 0 END,
        c.last_block
    FROM contracts_between(at, first, last) AS c
$$;

-- Whether code may have run in a transaction at an address that has none after its block: what was created in
-- the block before, or emitted a log in it. The planner inlines it.
CREATE OR REPLACE FUNCTION passing_code(at bytea, block bigint, index integer) RETURNS TABLE (may_have_run boolean)
LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (SELECT n.transaction_index <= index FROM creation_in(at, block) AS n),
        EXISTS (SELECT FROM log_emitters e WHERE e.address = at AND e.block_number = block))
$$;

-- Where the code of verified contracts is in their sources.
CREATE TABLE IF NOT EXISTS source_maps (
    address bytea NOT NULL,
    code_hash bytea NOT NULL,
    source_map bytea NOT NULL,     -- the compiler's text, by zlib
    files json NOT NULL,           -- [[number in the source map, path], ...]
    PRIMARY KEY (address, code_hash)
);
CREATE OR REPLACE TRIGGER source_maps_announced
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON source_maps
    FOR EACH STATEMENT EXECUTE FUNCTION announce_labels();

-- Where the creation code of verified contracts is in their sources. A creation that failed left no contract:
-- its code is searched for here. The hashes are SHA-256 of the code without arguments, with zeros in hashes of
-- metadata.
CREATE TABLE IF NOT EXISTS creation_maps (
    address bytea NOT NULL,
    code_hash bytea NOT NULL,      -- of the runtime code
    code_size integer NOT NULL,
    search_hash bytea NOT NULL,    -- with zeros in all operands of PUSH20
    masked_hash bytea NOT NULL,    -- with zeros where libraries are linked
    links json NOT NULL,           -- [[start, end], ...] of libraries
    source_map bytea NOT NULL,     -- the compiler's text, by zlib
    files json NOT NULL,           -- [[number in the source map, path], ...]
    PRIMARY KEY (address, code_hash)
);
-- serves contracts/creation_maps_find
CREATE INDEX IF NOT EXISTS creation_maps_by_search_hash
    ON creation_maps (search_hash, masked_hash, address);
CREATE OR REPLACE TRIGGER creation_maps_announced
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON creation_maps
    FOR EACH STATEMENT EXECUTE FUNCTION announce_labels();

-- How the storage of verified contracts is laid out, as their compilers say.
CREATE TABLE IF NOT EXISTS storage_layouts (
    address bytea NOT NULL,
    code_hash bytea NOT NULL,
    layout bytea NOT NULL,         -- the compiler's JSON, by zlib
    PRIMARY KEY (address, code_hash)
);
CREATE OR REPLACE TRIGGER storage_layouts_announced
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON storage_layouts
    FOR EACH STATEMENT EXECUTE FUNCTION announce_labels();
