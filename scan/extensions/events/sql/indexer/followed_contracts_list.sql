-- The contracts whose logs are followed.
-- params: none
-- returns: address, and the block from which on contract_events has its logs
-- index: none
SELECT c.address, c.complete_from FROM followed_contracts c;
