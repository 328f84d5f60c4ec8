
    SELECT count(*) FROM (
        SELECT token_address, holder_range(balance, holder), count(*) FROM token_holders
        WHERE balance > 0 AND token_address IN (SELECT token_address FROM token_holder_ranges)
        GROUP BY 1, 2
        EXCEPT
        SELECT token_address, balance_range, holder_count FROM token_holder_ranges) AS missing
