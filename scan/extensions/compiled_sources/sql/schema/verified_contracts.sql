-- What compilers say of the code of verified contracts.

-- Where the code of verified contracts, and the code that creates them, is in their sources, how their storage
-- is laid out, and which functions calls run. A creation that failed left no contract: its code is searched for
-- here. The hashes are SHA-256 of creation code without arguments, with zeros in hashes of metadata.
CREATE TABLE IF NOT EXISTS compiled_sources (
    address bytea NOT NULL,
    code_hash bytea NOT NULL,      -- of the runtime code
    files json NOT NULL,           -- [[number in the source maps, path], ...]
    source_map bytea,              -- the compiler's text, by zlib; null: none
    layout bytea,                  -- the compiler's JSON, by zlib; null: none
    functions bytea,               -- JSON, by zlib; null: not known
    creation_map bytea,            -- as source_map, of the creation code; null: that is not known
    creation_size integer,
    search_hash bytea,             -- with zeros in all operands of PUSH20
    masked_hash bytea,             -- with zeros where libraries are linked
    links json NOT NULL,           -- [[start, end], ...] of libraries in the creation code
    PRIMARY KEY (address, code_hash)
);
-- serves contracts/compiled_sources_find_creations
CREATE INDEX IF NOT EXISTS compiled_sources_by_search_hash
    ON compiled_sources (search_hash, masked_hash, address);
CREATE OR REPLACE TRIGGER compiled_sources_announced
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON compiled_sources
    FOR EACH STATEMENT EXECUTE FUNCTION announce_labels();
