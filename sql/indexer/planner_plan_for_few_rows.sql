-- Has the rest of this transaction planned for few rows, whatever the planner expects of parameters that it does
-- not know: half a percent of a table. All are found by index, and memory is not reserved for more.
-- params: none
-- literals: none
-- returns: one row: the settings
-- index: none
SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
    set_config('enable_seqscan', 'off', true), set_config('work_mem', '2MB', true);
