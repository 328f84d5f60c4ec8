-- The files of an export that were read whole.
-- params: none
-- returns: file, state
-- index: none
SELECT file, state FROM read_export_files;
