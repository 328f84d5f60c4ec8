-- Pages of the long lists, with the functions that list_checkpoints.sql.j2 and list_records.sql.j2 render.
-- Nothing is counted, sorted or skipped for a page, however deep it is.
-- * Without a key ({numbered}_list) a page is a range of ordinals: *_ordinals turn the range of blocks into
--   ordinals, page_of_range cuts the page from them, and one scan of the primary key reads it.
-- * By one key ({list_by_one_filter}_list: of an address, a token, an exchange, a topic) a list has an exact
--   counter and checkpoints. entries_before() turns the range of blocks into a range of places in the list,
--   list_start gives the checkpoint nearest to the offset, and the page is at most so many entries
--   away.
-- * Several keys together ({list}_list_by_filters) have neither: they are counted from their end, on the
--   narrowest index, and their total is not known.
-- * A cursor (see scan/queries/cursors.py) is an ordinal: without a key it cuts the range, by one key
--   entries_before() makes it the number of entries to skip, by several keys it bounds the index.
-- Lists by keys take entries from the index alone, in ordered halves where there are several ways to
-- match, and fetch the rows of the page only. The planner takes a range between two numbers that it
-- does not know for 0.5 % of a table: an end that bounds nothing is left out (has_lower, has_upper),
-- and where both are compared, the upper one is compared as a row, which the planner does not pair
-- with the lower. `skip` is the offset, `size` the limit, `direction` asc or desc.

-- Whether a log has the topics asked for. `accepted` has a bit for each combination of the four that
-- may match (topic0 counts 1, topic1 2, topic2 4, topic3 8), so that `and` and `or` are one to it.
CREATE OR REPLACE FUNCTION has_topics(
    topic_id integer, others bytea, id0 integer, topic1 bytea, topic2 bytea, topic3 bytea,
    accepted integer)
RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN (accepted >> (coalesce(topic_id = id0, false)::integer
    + 2 * coalesce(substr(others, 1, 32) = topic1, false)::integer
    + 4 * coalesce(substr(others, 33, 32) = topic2, false)::integer
    + 8 * coalesce(substr(others, 65, 32) = topic3, false)::integer)) & 1 = 1;

-- Whether logs with so many bytes of data fit one page; a single log always does.
CREATE OR REPLACE FUNCTION fits_page(bytes bigint, size bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN size = 1 OR coalesce(bytes, 0) <= 16 * 1024 * 1024;

-- The numbers of first..last that are on a page: those after `skip` of them, or after a cursor's number.
-- `next` is the last number on the page, null where none follows.
CREATE OR REPLACE FUNCTION page_of_range(
    first bigint, last bigint, skip bigint, after bigint, size bigint, direction text)
RETURNS TABLE (lowest bigint, highest bigint, next bigint) LANGUAGE sql IMMUTABLE AS $$
    SELECT page.lowest, page.highest,
        CASE WHEN direction = 'asc' AND page.highest < last THEN page.highest
            WHEN direction = 'desc' AND page.lowest > first THEN page.lowest END
    FROM (
        SELECT CASE WHEN direction = 'asc' THEN first + passed
                ELSE greatest(last - passed - (size - 1), first) END AS lowest,
            CASE WHEN direction = 'asc' THEN least(first + passed + (size - 1), last)
                ELSE last - passed END AS highest
        FROM (
            SELECT least(greatest(CASE WHEN after IS NULL THEN skip
                WHEN direction = 'asc' THEN after - first + 1
                ELSE last - after + 1 END, 0), greatest(last - first + 1, 0)) AS passed
        ) AS known
    ) AS page
$$;

-- A block as cursors have it: its number in eight bytes, then its hash.
CREATE OR REPLACE FUNCTION block_reference(b blocks) RETURNS bytea LANGUAGE sql IMMUTABLE
RETURN int8send(b.number) || b.hash;
