-- How many verified contracts wait to be compiled again, and of how many the sources then did not give the code.
-- params: none
-- returns: one row: both numbers
-- index: read_findings_due, read_findings_kept
SELECT (SELECT count(*) FROM read_findings WHERE version = 0),
    (SELECT count(*) FROM read_findings WHERE reason IS NOT NULL);
