-- Sets whether the rest of this transaction may be planned with sequential scans.
-- params: allowed boolean
-- returns: one row: the setting
-- index: none
SELECT set_config('enable_seqscan', (%(allowed)s)::text, true);
