-- Sets whether the rest of this transaction may be planned with nested loops.
-- params: allowed boolean
-- returns: one row: the setting
-- index: none
SELECT set_config('enable_nestloop', (%(allowed)s)::text, true);
