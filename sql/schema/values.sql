-- Functions that write values as JSON.

-- The planner inlines these functions. format() makes compact JSON, a fifth faster than json_build_object
-- does: values that may be null, and texts of others, are passed to it through json_text or json_hex.
CREATE OR REPLACE FUNCTION hex(value bytea) RETURNS text LANGUAGE sql IMMUTABLE
RETURN '0x' || encode(value, 'hex');

CREATE OR REPLACE FUNCTION iso(value timestamptz) RETURNS text LANGUAGE sql STABLE
RETURN to_char(value AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');

CREATE OR REPLACE FUNCTION json_text(value text) RETURNS text LANGUAGE sql STABLE
RETURN coalesce(to_json(value)::text, 'null');

CREATE OR REPLACE FUNCTION json_hex(value bytea) RETURNS text LANGUAGE sql IMMUTABLE
RETURN coalesce('"' || hex(value) || '"', 'null');

-- Why blocks are not proven by their hashes: each reason with the first and the last of its blocks, at most
-- 20 reasons. Each takes three probes of blocks_unproven, however many blocks it has.
CREATE OR REPLACE FUNCTION unproven_blocks()
RETURNS TABLE (first_block bigint, last_block bigint, reason text) LANGUAGE sql STABLE AS $$
    WITH RECURSIVE reasons AS (
        (SELECT b.unproven AS reason, 1 AS place FROM blocks b
        WHERE b.unproven IS NOT NULL ORDER BY b.unproven LIMIT 1)
        UNION ALL
        SELECT (SELECT b.unproven FROM blocks b
            WHERE b.unproven > r.reason ORDER BY b.unproven LIMIT 1), r.place + 1
        FROM reasons r
        WHERE r.reason IS NOT NULL AND r.place < 20
    )
    SELECT
        (SELECT b.number FROM blocks b WHERE b.unproven = r.reason ORDER BY b.unproven, b.number LIMIT 1),
        (SELECT b.number FROM blocks b WHERE b.unproven = r.reason
            ORDER BY b.unproven DESC, b.number DESC LIMIT 1),
        r.reason
    FROM reasons r
    WHERE r.reason IS NOT NULL;
$$;

-- A JSON array of records that string_agg(record::text, ',') has joined; null where there are none.
CREATE OR REPLACE FUNCTION json_list(records text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN '[' || coalesce(records, '') || ']';

-- Decimal digits of an unsigned integer that is stored as bytes; the first form, of up to 56 bits, is
-- as quick as numeric's own output.
CREATE OR REPLACE FUNCTION large_integer(value bytea) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT
RETURN (SELECT trunc(sum(get_byte(value, index) * 256::numeric ^ (length(value) - 1 - index)))
    FROM generate_series(0, length(value) - 1) AS index);

CREATE OR REPLACE FUNCTION integer_text(value bytea) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN length(value) < 8 THEN int8(('x' || encode(value, 'hex'))::varbit)::text
    ELSE large_integer(value)::text END;

-- The same integer as a node's JSON has it: 0x and hex digits.
CREATE OR REPLACE FUNCTION hex_quantity(value bytea) RETURNS text LANGUAGE sql IMMUTABLE
RETURN '0x' || coalesce(nullif(ltrim(encode(value, 'hex'), '0'), ''), '0');

CREATE OR REPLACE FUNCTION json_integer(value bytea) RETURNS text LANGUAGE sql IMMUTABLE
RETURN coalesce('"' || integer_text(value) || '"', 'null');

CREATE OR REPLACE FUNCTION json_hashes(hashes bytea[]) RETURNS text LANGUAGE sql IMMUTABLE STRICT
RETURN (SELECT json_list(string_agg(json_hex(h.hash), ',' ORDER BY h.position))
    FROM unnest(hashes) WITH ORDINALITY AS h (hash, position));
