-- serves queries/addresses_list_by_balance. A smaller balance has no entry, which most addresses of a large
-- chain have: entries move with every change of a row at the head.
CREATE INDEX IF NOT EXISTS addresses_by_balance ON addresses (balance, address)
    WHERE balance >= 1000000000000000000;
