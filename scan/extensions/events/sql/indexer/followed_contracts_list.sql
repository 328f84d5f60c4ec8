-- The contracts whose logs are followed, and '' where others are that logs name.
-- params: none
-- returns: address, and the block from which on contract_events has its logs
-- index: none
SELECT c.address, c.complete_from FROM followed_contracts c WHERE c.factory IS NULL
UNION ALL
SELECT '', min(c.complete_from) FROM followed_contracts c WHERE c.factory IS NOT NULL HAVING count(*) > 0;
