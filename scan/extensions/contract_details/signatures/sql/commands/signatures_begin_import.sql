-- Makes a table for the signatures of a file, which lasts until the transaction ends.
-- params: none
-- returns: nothing
-- index: none
CREATE TEMPORARY TABLE imported_signatures (
    selector bytea NOT NULL,
    signature text COLLATE "C" NOT NULL
) ON COMMIT DROP;
