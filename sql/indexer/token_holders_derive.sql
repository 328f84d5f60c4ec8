-- Moves the balances of holders by the transfers of blocks already written; sign -1 takes the same back.
-- Run it without nested loops, as the planner cannot know how many rows the newest blocks have.
-- params: span block_range, sign integer
-- literals: sign
-- returns: token_address, changes of its number of holders and of the amount held, and the holders whose balances are now zero (bytea[] null)
-- index: token_transfers_pkey, token_holders_pkey
WITH changes AS MATERIALIZED (
    SELECT holder, token_address, balance * %(sign)s AS amount
    FROM token_holders_changes(%(span)s::block_range)
), moved AS (
    INSERT INTO token_holders AS h (holder, token_address, balance)
    SELECT holder, token_address, amount
    FROM changes
    ORDER BY holder, token_address -- so that each page of the primary key is visited once
    ON CONFLICT (holder, token_address) DO UPDATE SET balance = h.balance + EXCLUDED.balance
    RETURNING h.holder, h.token_address, h.balance
)
SELECT m.token_address,
    sum((m.balance > 0)::integer - (m.balance - d.amount > 0)::integer),
    sum(greatest(m.balance, 0) - greatest(m.balance - d.amount, 0)),
    array_agg(m.holder) FILTER (WHERE m.balance = 0)
FROM moved m
JOIN changes d USING (holder, token_address)
GROUP BY m.token_address;
