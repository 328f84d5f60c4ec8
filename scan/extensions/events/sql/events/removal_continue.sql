-- Removes some of the logs of a contract that is followed no more, or of the children that it stood for, and those of
-- these that have none; where nothing else is left, what says so. The indexer has to be kept from writing.
-- params: address bytea, is_last boolean, most integer
-- returns: nothing
-- index: followed_children_by_contract, contract_events_by_topic0, contract_events_pkey, followed_children_pkey
WITH children AS MATERIALIZED (
    SELECT c.address FROM followed_children c WHERE c.followed_as = %(address)s LIMIT %(most)s
), logs AS MATERIALIZED (
    SELECT e.ordinal
    FROM children n
    CROSS JOIN LATERAL (SELECT o.ordinal FROM contract_events o WHERE o.address = n.address LIMIT %(most)s) AS e
    LIMIT %(most)s
), removed AS (
    DELETE FROM contract_events e USING logs l WHERE e.ordinal = l.ordinal
)
DELETE FROM followed_children c USING children n
WHERE c.address = n.address AND (%(is_last)s OR c.address <> sha256(%(address)s))
    AND NOT EXISTS (SELECT FROM contract_events e WHERE e.address = c.address);
