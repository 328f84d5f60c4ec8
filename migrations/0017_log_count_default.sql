-- A release from before logs writes blocks without log_count: where logs are stored it fails here, and
-- leaves no block without its logs.
CREATE OR REPLACE FUNCTION log_count_of_older_release() RETURNS integer
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF EXISTS (SELECT FROM chain WHERE stored_logs <> 'none') THEN
        RAISE 'this database stores logs, which a release before 0009 would leave out'
            USING HINT = 'Start the indexer of the release that made it.';
    END IF;
    RETURN 0;
END
$$;
ALTER TABLE IF EXISTS blocks ALTER COLUMN log_count SET DEFAULT log_count_of_older_release();
