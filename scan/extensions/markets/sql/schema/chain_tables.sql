-- serves queries/pools_list
CREATE INDEX IF NOT EXISTS pools_by_trade_count ON pools (trade_count, address);
