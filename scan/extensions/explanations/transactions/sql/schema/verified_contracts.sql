-- What compilers say of the code of verified contracts.

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
