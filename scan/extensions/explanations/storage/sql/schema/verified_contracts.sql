-- What compilers say of the storage of verified contracts.

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
