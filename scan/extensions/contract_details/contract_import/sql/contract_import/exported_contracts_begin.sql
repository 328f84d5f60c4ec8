-- Makes a table for contracts of an export, which lasts until the transaction ends.
-- params: none
-- returns: nothing
-- index: none
CREATE TEMPORARY TABLE received_contracts (
    address bytea NOT NULL,
    code_hash bytea NOT NULL,
    compilation_id uuid NOT NULL,
    match text NOT NULL
) ON COMMIT DROP;
