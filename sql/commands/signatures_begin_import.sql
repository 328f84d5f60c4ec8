-- A table for what a file holds, until the transaction ends.
-- params: none
-- returns: nothing
-- index: none
CREATE TEMPORARY TABLE imported_signatures (
    selector bytea NOT NULL,
    signature text COLLATE "C" NOT NULL
) ON COMMIT DROP;
