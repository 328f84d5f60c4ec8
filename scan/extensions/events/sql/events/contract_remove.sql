-- Ends following a contract: its logs, views and names are removed. The indexer has to be kept from writing.
-- params: address bytea
-- returns: names of the views that were removed
-- index: followed_contracts_pkey, event_views_by_address, contract_events_by_topic0, followed_children_by_contract
WITH removed AS (
    SELECT v.view_name, remove_event_view(v.view_name) FROM event_views v WHERE v.address = %(address)s
), logs AS (
    DELETE FROM contract_events e
    WHERE e.address IN (
        SELECT %(address)s::bytea UNION ALL SELECT c.address FROM followed_children c WHERE c.followed_as = %(address)s)
), renewed AS (
    UPDATE chain SET followed_version = followed_version + 1
), not_again AS (
    INSERT INTO unfollowed_contracts (address) VALUES (%(address)s) ON CONFLICT DO NOTHING
), contract AS (
    DELETE FROM followed_contracts WHERE address = %(address)s
)
SELECT view_name FROM removed ORDER BY view_name;
