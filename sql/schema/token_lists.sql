-- Tokens of the token lists that operators import (https://tokenlists.org), and their logos.

-- A token is of the list that was imported last.
CREATE TABLE IF NOT EXISTS listed_tokens (
    address bytea PRIMARY KEY,
    list text NOT NULL,            -- the list's name
    name text NOT NULL,
    symbol text NOT NULL,
    decimals smallint NOT NULL,
    logo_uri text,                 -- as the list has it
    logo bytea                     -- SHA-256 of the file; null: none, or not fetched
);
-- serves namesake_of()
CREATE INDEX IF NOT EXISTS listed_tokens_by_symbol ON listed_tokens (skeleton(symbol));

CREATE TABLE IF NOT EXISTS logos (
    digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32), -- SHA-256 of the content
    content_type text NOT NULL,    -- what the bytes are
    content bytea NOT NULL
);

-- The path at which a logo is served, below SCAN_BASE_PATH, which a setting of the session has.
CREATE OR REPLACE FUNCTION logo_url(digest bytea) RETURNS text LANGUAGE sql STABLE
RETURN coalesce(current_setting('scan.base_path', true), '') || '/api/v1/logos/' || encode(digest, 'hex');
