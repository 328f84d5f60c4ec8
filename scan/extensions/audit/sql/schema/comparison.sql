-- At most `most` of the rows that differ from the expected ones: the row, or else the expected one; its
-- compared columns as stored and as expected, null where there is no row; and the number of all that differ.
CREATE OR REPLACE FUNCTION compare_rows(compared text, most integer)
RETURNS TABLE (compared_row jsonb, stored jsonb, expected jsonb, differences bigint)
LANGUAGE plpgsql AS $$
DECLARE
    keys name[] := expected_columns(compared, true);
    others name[] := expected_columns(compared, false);
BEGIN
    RETURN QUERY EXECUTE format($query$
        SELECT coalesce(to_jsonb(s), to_jsonb(e)),
            CASE WHEN s.%1$I IS NOT NULL THEN jsonb_build_object(%2$s) END,
            CASE WHEN e.%1$I IS NOT NULL THEN jsonb_build_object(%3$s) END, count(*) OVER ()
        FROM %4$I s
        FULL JOIN %5$I e USING (%6$s)
        WHERE s.%1$I IS NULL OR e.%1$I IS NULL OR ROW(%7$s) IS DISTINCT FROM ROW(%8$s)
        ORDER BY %6$s
        LIMIT %9$s
        $query$, keys[1], format_names(others, '%1$L, s.%1$I', ', '),
        format_names(others, '%1$L, e.%1$I', ', '), compared, 'expected_' || compared,
        format_names(keys, '%I', ', '), format_names(others, 's.%I', ', '),
        format_names(others, 'e.%I', ', '), most);
END
$$;

-- The range of all blocks whose rows are not removed.
CREATE OR REPLACE FUNCTION blocks_not_removed() RETURNS block_range LANGUAGE sql STABLE
RETURN (SELECT (b.number, 9223372036854775807, b.transactions_before, 9223372036854775807,
        b.token_transfers_before, 9223372036854775807, b.dex_trades_before, 9223372036854775807,
        b.internal_transfers_before, 9223372036854775807, b.logs_before, 9223372036854775807)::block_range
    FROM retention r
    JOIN blocks b ON b.number = r.removed_to);
