-- What is restored from a file of owners' data (scan/database/owners_file.py).

-- Inserts the rows of a table that are in owners_lines, the lines of such a file, by the names of these columns; the
-- others get their defaults. Rows whose key is there already stay as they are. Returns how many were inserted.
CREATE OR REPLACE FUNCTION restore_rows(restored text, columns text[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    inserted bigint;
BEGIN
    EXECUTE format('INSERT INTO %1$I (%2$s) SELECT %2$s'
        ' FROM owners_lines l, json_populate_record(NULL::%1$I, l.line -> ''row'')'
        ' WHERE l.line ->> ''table'' = %1$L ON CONFLICT DO NOTHING',
        restored, (SELECT string_agg(quote_ident(c), ', ') FROM unnest(columns) AS c));
    GET DIAGNOSTICS inserted = ROW_COUNT;
    RETURN inserted;
END
$$;

-- Verified contracts from such a file, until their sources are compiled again beside serving, once their code is
-- indexed: what compilers say of them is not in it. Of one that then does not match, the row stays with the reason.
CREATE TABLE IF NOT EXISTS restored_sources (
    address bytea NOT NULL,
    code_hash bytea NOT NULL,
    due_at timestamptz NOT NULL DEFAULT '-infinity', -- while it is compiled: when another process may do so
    attempts integer NOT NULL DEFAULT 0,
    reason text,                   -- why it is not verified; null: not known yet
    PRIMARY KEY (address, code_hash)
);
-- serves verification/restored_sources_claim
CREATE INDEX IF NOT EXISTS restored_sources_due ON restored_sources (due_at) WHERE reason IS NULL;
