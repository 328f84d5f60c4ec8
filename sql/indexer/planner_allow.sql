-- Sets how the rest of this transaction may be planned.
-- params: nested_loops boolean, other_joins boolean, sequential_scans boolean
-- literals: none
-- returns: one row: the settings
-- index: none
SELECT set_config('enable_nestloop', %(nested_loops)s::text, true),
    set_config('enable_hashjoin', %(other_joins)s::text, true),
    set_config('enable_mergejoin', %(other_joins)s::text, true),
    set_config('enable_seqscan', %(sequential_scans)s::text, true);
