-- Lets one process at a time count unfinished jobs and change which there are, until its
-- transaction ends.
-- params: none
-- returns: one row without a value
-- index: none
SELECT pg_advisory_xact_lock(hashtext('scan.verification_jobs'));
