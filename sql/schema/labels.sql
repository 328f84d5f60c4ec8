-- Labels and signatures that operators add, and the version of the index.

-- Names that operators give to addresses.
CREATE TABLE IF NOT EXISTS labels (
    address bytea PRIMARY KEY,
    label text NOT NULL
);
-- serves queries/search_list_by_text
CREATE INDEX IF NOT EXISTS labels_by_text ON labels (lower(label) text_pattern_ops);

-- The words of a name, which begin after spaces and punctuation, and in CamelCase at capitals.
CREATE OR REPLACE FUNCTION spaced_words(name text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN regexp_replace(
    regexp_replace(name, '([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])', '\1\3 \2', 'g'),
    '[!-/:-@[-`{-~]+', ' ', 'g');

-- It is in PL/pgSQL, which is not inlined, as the planner must know its cost (50 us), or it reads all names.
CREATE OR REPLACE FUNCTION words_of(name text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE COST 5000
SET search_path FROM CURRENT AS $$
BEGIN
    RETURN to_tsvector('simple', spaced_words(name));
END
$$;

-- The query for names with the words of a text, one after the other; null below three characters, which too
-- many names would match. `is_prefix`: of the last word the beginning is enough.
CREATE OR REPLACE FUNCTION search_words(text text, is_prefix boolean) RETURNS tsquery LANGUAGE sql IMMUTABLE
RETURN CASE WHEN length(text) >= 3 THEN nullif(
    concat(nullif(phraseto_tsquery('simple'::regconfig, spaced_words(text))::text, ''),
        CASE WHEN is_prefix THEN ':*' END), ':*')::tsquery END;
-- serves queries/search_list_by_text
CREATE INDEX IF NOT EXISTS labels_by_word ON labels USING gin (words_of(label))
    WITH (fastupdate = off);

-- The number of changes of labels, verified contracts and imported signatures. It is not in chain, as a lock
-- on that row would hold up the indexer.
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

-- The version of the index that a statement has read. It grows with every change that a response about
-- the chain may show, so that two reads with the same version have read the same.
CREATE OR REPLACE FUNCTION index_version() RETURNS bigint LANGUAGE sql STABLE
RETURN coalesce((SELECT version FROM chain), 0) + coalesce((SELECT version FROM label_state), 0);

-- The symbol of the chain's coin: SCAN_COIN_SYMBOL, or that of a known chain, which settings of the session have; else
-- an empty text.
CREATE OR REPLACE FUNCTION coin_symbol() RETURNS text LANGUAGE sql STABLE
RETURN coalesce(nullif(current_setting('scan.coin_symbol', true), ''),
    nullif(current_setting('scan.coin_symbols', true), '')::jsonb ->> (SELECT c.chain_id::text FROM chain c), '');

-- Signatures of functions and events that operators import, to decode calls and logs of contracts
-- that nobody verified. An event's first topic begins with the same four bytes.
CREATE TABLE IF NOT EXISTS signatures (
    selector bytea NOT NULL CHECK (octet_length(selector) = 4),
    signature text COLLATE "C" NOT NULL,
    PRIMARY KEY (selector, signature)
);
-- serves queries/selectors_find
CREATE INDEX IF NOT EXISTS signatures_by_lower_signature ON signatures (lower(signature));
