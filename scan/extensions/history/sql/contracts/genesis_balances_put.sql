-- Stores the balance of an address at genesis, also in the place of one that was not proven.
-- params: address bytea, balance numeric, is_proven boolean
-- returns: nothing
-- index: genesis_balances_pkey
INSERT INTO genesis_balances AS g (address, balance, is_proven)
VALUES (%(address)s, %(balance)s, %(is_proven)s)
ON CONFLICT (address) DO UPDATE SET balance = excluded.balance, is_proven = excluded.is_proven
WHERE NOT g.is_proven;
