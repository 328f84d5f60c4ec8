-- Whether nothing of a chain is stored yet.
-- params: none
-- returns: boolean
-- index: the primary keys
SELECT NOT (EXISTS (SELECT FROM blocks) OR EXISTS (SELECT FROM transactions)
    OR EXISTS (SELECT FROM token_transfers) OR EXISTS (SELECT FROM internal_transfers)
    OR EXISTS (SELECT FROM logs) OR EXISTS (SELECT FROM withdrawals)
    OR EXISTS (SELECT FROM credits) OR EXISTS (SELECT FROM user_operations)
    OR EXISTS (SELECT FROM uncles) OR EXISTS (SELECT FROM authorizations)
    OR EXISTS (SELECT FROM messages_to_l1)
    OR EXISTS (SELECT FROM blobs) OR EXISTS (SELECT FROM execution_requests)
    OR EXISTS (SELECT FROM contracts) OR EXISTS (SELECT FROM tokens) OR EXISTS (SELECT FROM pools)
    OR EXISTS (SELECT FROM rejected_emitters) OR EXISTS (SELECT FROM addresses));
