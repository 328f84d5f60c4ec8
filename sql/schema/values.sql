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

-- The first letters and digits of a token's symbol, in lower case, by which impostors are told.
CREATE OR REPLACE FUNCTION symbol_letters(symbol text, most integer) RETURNS text LANGUAGE sql IMMUTABLE
RETURN left(lower(regexp_replace(normalize(symbol, NFKC), '[^0-9A-Za-z]', '', 'g')), most);

-- The newest block, and the node's: null, with the lag, where the node has not reported it within a minute.
-- A newest block older than quiet_after_s shows that the chain is quiet: ten times the mean of the newest 32
-- intervals between blocks. It is null where there are fewer, or where they differ widely, as on a chain that
-- makes a block when it gets a transaction.
CREATE OR REPLACE FUNCTION index_progress()
RETURNS TABLE (head bigint, head_at timestamptz, node_head bigint, lag bigint, quiet_after_s float8)
LANGUAGE sql STABLE AS $$
    SELECT newest.number, newest.timestamp, known.head, known.newest - coalesce(newest.number, c.start_block - 1),
        (SELECT CASE WHEN count(s) = 32 AND max(s) <= greatest(8 * avg(s), 2) THEN greatest(10 * avg(s), 30) END
        FROM (SELECT extract(epoch FROM b.timestamp - lead(b.timestamp) OVER (ORDER BY b.number DESC))::float8
            FROM (SELECT b.number, b.timestamp FROM blocks b ORDER BY b.number DESC LIMIT 33) AS b
        ) AS intervals (s))
    FROM (SELECT 1) AS always
    LEFT JOIN chain c ON true
    LEFT JOIN (SELECT b.number, b.timestamp FROM blocks b ORDER BY b.number DESC LIMIT 1) AS newest ON true
    LEFT JOIN LATERAL (SELECT s.node_head, greatest(s.node_head, newest.number)
        FROM indexer_status s WHERE s.node_head IS NOT NULL AND s.checked_at > now() - interval '1 minute'
    ) AS known (head, newest) ON true
$$;

-- Why blocks are not proven by their hashes: the newest 20 runs of consecutive blocks with one reason, the
-- newest first. Each takes a probe of blocks_unproven for each of at most 100 reasons, twice, and one of
-- blocks_pkey for each bit of its length: the blocks between two numbers are all unproven where
-- number - unproven_before is the same at both.
CREATE OR REPLACE FUNCTION unproven_blocks()
RETURNS TABLE (first_block bigint, last_block bigint, reason text) LANGUAGE plpgsql STABLE AS $$
DECLARE
    reasons text[];
    proven bigint;
    middle bigint;
BEGIN
    WITH RECURSIVE distinct_reasons AS (
        (SELECT b.unproven AS name, 1 AS place FROM blocks b
        WHERE b.unproven IS NOT NULL ORDER BY b.unproven LIMIT 1)
        UNION ALL
        SELECT (SELECT b.unproven FROM blocks b
            WHERE b.unproven > r.name ORDER BY b.unproven LIMIT 1), r.place + 1
        FROM distinct_reasons r
        WHERE r.name IS NOT NULL AND r.place < 100
    )
    SELECT array_agg(r.name) INTO reasons FROM distinct_reasons r WHERE r.name IS NOT NULL;
    FOR run IN 1..20 LOOP
        SELECT newest.name, newest.number INTO reason, last_block
        FROM newest_unproven_blocks(reasons, first_block) newest
        ORDER BY newest.number DESC LIMIT 1;
        EXIT WHEN NOT FOUND;
        SELECT b.number - b.unproven_before INTO proven FROM blocks b WHERE b.number = last_block;
        SELECT coalesce(max(other.number) + 1, (SELECT min(b.number) FROM blocks b)) INTO first_block
        FROM newest_unproven_blocks(array_remove(reasons, reason), last_block) other;
        middle := last_block;
        WHILE first_block < middle LOOP
            IF (SELECT b.number - b.unproven_before FROM blocks b
                WHERE b.number = (first_block + middle) / 2) = proven
            THEN middle := (first_block + middle) / 2;
            ELSE first_block := (first_block + middle) / 2 + 1;
            END IF;
        END LOOP;
        RETURN NEXT;
    END LOOP;
END $$;

-- The newest block of each reason, below a block where that is not null.
CREATE OR REPLACE FUNCTION newest_unproven_blocks(reasons text[], below bigint)
RETURNS TABLE (name text, number bigint) LANGUAGE sql STABLE AS $$
    SELECT r.name, newest.number
    FROM unnest(reasons) AS r (name)
    CROSS JOIN LATERAL (
        SELECT b.number
        FROM blocks b
        WHERE b.unproven = r.name AND b.number < coalesce(below, 9223372036854775807)
        ORDER BY b.unproven DESC, b.number DESC
        LIMIT 1
    ) AS newest
$$;

-- How many blocks are not proven by their hashes.
CREATE OR REPLACE FUNCTION unproven_block_count() RETURNS bigint LANGUAGE sql STABLE
RETURN coalesce((SELECT b.unproven_before + (b.unproven IS NOT NULL)::integer
    FROM blocks b ORDER BY b.number DESC LIMIT 1), 0);

-- A JSON array of records that string_agg(record::text, ',') has joined; null where there are none.
CREATE OR REPLACE FUNCTION json_list(records text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN '[' || coalesce(records, '') || ']';

-- A member `"name":value` of a JSON object; null where its value, JSON text, is.
CREATE OR REPLACE FUNCTION json_member(name text, value text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN '"' || name || '":' || value;

-- A JSON object, not an empty one, with further members: texts such as json_member() returns, of which null
-- ones are left out.
CREATE OR REPLACE FUNCTION with_members(record text, VARIADIC members text[]) RETURNS text
LANGUAGE sql STABLE
RETURN array_to_string(array_prepend(left(record, -1), members), ',') || '}';

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
