-- Pages of the long lists, with the functions that list_entries.sql.j2 renders. Nothing is counted, sorted
-- or skipped for a page, however deep it is.
-- * Without a key (*_list) a page is a range of ordinals: *_ordinals turn the range of blocks into
--   ordinals, page_of_range cuts the page from them, and one scan of the primary key reads it.
-- * By one key (*_list_by_key: an address, a token, an exchange, a topic) a list has an exact counter
--   and checkpoints. entries_before() turns the range of blocks into a range of places in the list,
--   list_start gives the checkpoint nearest to the offset, and the page is at most so many entries
--   away.
-- * Several keys together (*_list_by_filters) have neither: they are counted from their end, on the
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

-- Whether logs with so many bytes of data are answered as one page; one alone always is.
CREATE OR REPLACE FUNCTION fits_page(bytes bigint, size bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN size = 1 OR coalesce(bytes, 0) <= 16 * 1024 * 1024;

-- Which numbers of first..last are on a page: after `skip` of them, or after the number where a cursor
-- stands. `next` is the last of them, null where none follows.
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

-- A block to a cursor: its number in eight bytes, then its hash.
CREATE OR REPLACE FUNCTION block_reference(b blocks) RETURNS bytea LANGUAGE sql IMMUTABLE
RETURN int8send(b.number) || b.hash;

-- How far apart checkpoints stand: a page at any depth passes at most so many index entries.
-- With 128 they take about a hundredth of the rows' room.
CREATE OR REPLACE FUNCTION checkpoint_every() RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN 128;

-- Whether a list that grew has an entry now whose place is a multiple of that, 0 left out.
CREATE OR REPLACE FUNCTION passes_checkpoint(entries_before bigint, entries bigint)
RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN (entries - 1) / checkpoint_every() > (entries_before - 1) / checkpoint_every()
    AND entries > entries_before;

-- Where to start reading a list for `skip` entries: the nearest checkpoint on the way, and how many
-- entries to pass from there; where there is none, the end that the order begins with.
CREATE OR REPLACE FUNCTION list_start(l text, k bytea, entries bigint, skip bigint, direction text)
RETURNS TABLE (ordinal bigint, pass bigint)
LANGUAGE sql STABLE AS $$
    (SELECT c.ordinal, abs(c.place - CASE
        WHEN direction = 'asc' THEN skip ELSE entries - 1 - skip END)
    FROM list_checkpoints c
    WHERE c.list = l AND c.key = k
        AND (direction <> 'asc' OR c.place <= skip)
        AND (direction <> 'desc' OR c.place >= entries - 1 - skip)
    ORDER BY CASE WHEN direction = 'asc' THEN c.place END DESC,
        CASE WHEN direction = 'desc' THEN c.place END ASC
    LIMIT 1)
    UNION ALL
    SELECT CASE WHEN direction = 'asc' THEN 0 ELSE 9223372036854775807 END, skip
    LIMIT 1
$$;

-- Where to stop: the ordinal that no entry of such a page is beyond, from the nearest checkpoint behind
-- it. An index that has none of the page's entries is not read to its end then, nor older partitions.
CREATE OR REPLACE FUNCTION list_end(
    l text, k bytea, entries bigint, skip bigint, size bigint, direction text)
RETURNS bigint LANGUAGE sql STABLE
RETURN CASE WHEN direction = 'asc' THEN coalesce(
        (SELECT c.ordinal FROM list_checkpoints c
        WHERE c.list = l AND c.key = k AND c.place >= skip + size - 1
        ORDER BY c.place ASC LIMIT 1), 9223372036854775807)
    ELSE coalesce(
        (SELECT c.ordinal FROM list_checkpoints c
        WHERE c.list = l AND c.key = k AND c.place <= entries - skip - size
        ORDER BY c.place DESC LIMIT 1), 0) END;

-- The last checkpoint of a list before an ordinal, by halving, since places and ordinals grow together: 18
-- probes for a list of 16 million entries, and one where that is its last. Place and ordinal 0 where there is
-- none; the ordinal is null where it was removed with its row.
CREATE OR REPLACE FUNCTION checkpoint_before(l text, k bytea, entries bigint, bound bigint)
RETURNS TABLE (place bigint, ordinal bigint) LANGUAGE plpgsql STABLE AS $$
DECLARE
    low bigint := 0;               -- in checkpoints: this one lies before the bound,
    high bigint := (entries - 1) / checkpoint_every() + 1; -- and this one does not
    middle bigint := high - 1;
    found bigint;
BEGIN
    place := 0;
    ordinal := 0;
    WHILE low + 1 < high LOOP
        SELECT c.ordinal INTO found FROM list_checkpoints c
        WHERE c.list = l AND c.key = k AND c.place = middle * checkpoint_every();
        IF found >= bound THEN
            high := middle;
        ELSE
            low := middle;
            place := middle * checkpoint_every();
            ordinal := found;
        END IF;
        middle := (low + high) / 2;
    END LOOP;
    RETURN NEXT;
END
$$;

-- How many entries of an index a page needs at most: from a checkpoint, or from the list's end.
CREATE OR REPLACE FUNCTION entries_to_read(has_list boolean, skip bigint, size bigint)
RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE WHEN has_list THEN checkpoint_every() + 1 ELSE least(skip, 9000000000000000000) END
    + size;
