-- Lets the statements of a file's transaction sum as many rows as it may have.
-- params: timeout_ms integer, work_mem text
-- returns: one row
-- index: none
SELECT set_config('statement_timeout', %(timeout_ms)s::text, true), set_config('work_mem', %(work_mem)s, true);
