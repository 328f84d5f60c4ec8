-- Until the end of the transaction, where the role may: pages of new indexes are not compressed for the
-- WAL, which takes as much processor time as to make a btree. Saves nothing where it was off before.
-- params: none
-- returns: one row: off, or null
-- index: none
SELECT CASE WHEN has_parameter_privilege('wal_compression', 'SET')
    THEN set_config('wal_compression', 'off', true) END;
