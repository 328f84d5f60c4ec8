-- Holders whose balance is not what the transfers give.
-- params: most integer
-- returns: holder and token, what is stored or null, what is expected or null (jsonb), how many
-- index: none
SELECT hex(holder) || ' of ' || hex(token_address),
    jsonb_build_object('balance', h.balance), jsonb_build_object('balance', e.balance),
    count(*) OVER ()
FROM token_holders h
FULL JOIN expected_token_holders e USING (holder, token_address)
WHERE h.balance IS DISTINCT FROM e.balance
ORDER BY holder, token_address
LIMIT %(most)s;
