-- Makes a table for paths of an export, which lasts until the transaction ends.
-- params: none
-- returns: nothing
-- index: none
CREATE TEMPORARY TABLE received_files (
    compilation_id uuid NOT NULL,
    path text NOT NULL,
    source_hash bytea NOT NULL
) ON COMMIT DROP;
