-- What operators add to names and signatures, and the version of the index.

-- Names that operators give to addresses.
CREATE TABLE IF NOT EXISTS labels (
    address bytea PRIMARY KEY,
    label text NOT NULL
);
-- serves queries/search_list
CREATE INDEX IF NOT EXISTS labels_by_text ON labels (lower(label) text_pattern_ops);
-- Counts the changes of labels, verified contracts and imported signatures: a lock on the chain's row would hold up the indexer.
CREATE TABLE IF NOT EXISTS label_state (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version bigint NOT NULL
);
-- pg_restore empties the search path, in which the function would not find its table.
CREATE OR REPLACE FUNCTION announce_labels() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
DECLARE
    changed bigint;
BEGIN
    INSERT INTO label_state AS s (version) VALUES (1)
    ON CONFLICT (only_row) DO UPDATE SET version = s.version + 1
    RETURNING s.version INTO changed;
    PERFORM pg_notify('scan_chain', 'labels ' || changed);
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER labels_announced AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON labels
    FOR EACH STATEMENT EXECUTE FUNCTION announce_labels();

-- Which state of the index a statement has read: it grows with every change that a response about
-- the chain may show, so two reads with the same version have read the same.
CREATE OR REPLACE FUNCTION index_version() RETURNS bigint LANGUAGE sql STABLE
RETURN coalesce((SELECT version FROM chain), 0) + coalesce((SELECT version FROM label_state), 0);

-- Signatures of functions and events that operators import, to decode calls and logs of contracts
-- that nobody verified. An event's first topic begins with the same four bytes.
CREATE TABLE IF NOT EXISTS signatures (
    selector bytea NOT NULL CHECK (octet_length(selector) = 4),
    signature text COLLATE "C" NOT NULL,
    PRIMARY KEY (selector, signature)
);
CREATE OR REPLACE TRIGGER signatures_announced
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON signatures
    FOR EACH STATEMENT EXECUTE FUNCTION announce_labels();
