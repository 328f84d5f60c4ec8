-- Owners of items whose balance is not what the transfers give.
-- params: most integer
-- returns: owner and item, what is stored or null, what is expected or null (jsonb), how many
-- index: none
SELECT hex(holder) || ' of the item first moved by transfer ' || first_ordinal,
    jsonb_build_object('balance', b.balance), jsonb_build_object('balance', e.balance),
    count(*) OVER ()
FROM item_balances b
FULL JOIN expected_item_balances e USING (holder, first_ordinal)
WHERE b.balance IS DISTINCT FROM e.balance
ORDER BY holder, first_ordinal
LIMIT %(most)s;
