-- Ends following a contract, or the children of a factory: views and names are removed, logs are to be. A child with its hash
-- as address stays until those are found that others name. The indexer has to be kept from writing.
-- params: address bytea
-- returns: names of the views that were removed
-- index: followed_contracts_pkey, event_views_by_address, followed_children_pkey
WITH removed AS (
    SELECT v.view_name, remove_event_view(v.view_name) FROM event_views v WHERE v.address = %(address)s
), renewed AS (
    UPDATE chain SET followed_version = followed_version + 1
), not_again AS (
    INSERT INTO unfollowed_contracts (address) VALUES (%(address)s) ON CONFLICT DO NOTHING
), left_over AS (
    INSERT INTO followed_children (address, followed_as, block_number)
    VALUES (%(address)s, %(address)s, 0), (sha256(%(address)s), %(address)s, 0)
    ON CONFLICT (address) DO UPDATE SET followed_as = EXCLUDED.followed_as
), contract AS (
    DELETE FROM followed_contracts WHERE address = %(address)s
)
SELECT view_name FROM removed ORDER BY view_name;
