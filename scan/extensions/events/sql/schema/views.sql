-- Events of followed contracts: the schema of their views, and how these decode logs.

DO $$ BEGIN PERFORM make_schema('events'); END $$;

-- Bytes as text. What is no UTF-8 is U+FFFD, one for each longest beginning of a character, as Python's
-- decoder has it; so is a zero, which PostgreSQL has in no text. Such a text ends with its 256th U+FFFD, as
-- render() in scan/contracts/abi_json.py has it: each is found in about 50 us, and each byte in 2 us.
CREATE OR REPLACE FUNCTION abi_text(value bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    size integer := octet_length(value);
    place integer := 0;
    stride integer := 1048576;     -- how many bytes are tried at once; below 16 each character by itself
    until integer;
    piece bytea;
    lead integer;
    following integer;
    taken integer;
    least_byte integer;
    most_byte integer;
    replaced integer := 0;
    parts text[] := '{}';
BEGIN
    IF position('\x00'::bytea IN value) = 0 THEN
        BEGIN
            RETURN convert_from(value, 'UTF8');
        EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
            NULL;
        END;
    END IF;
    WHILE place < size AND replaced < 256 LOOP
        IF stride >= 16 THEN
            until := least(place + stride, size);
            FOR _ IN 1 .. 3 LOOP
                EXIT WHEN until = size OR get_byte(value, until) NOT BETWEEN 128 AND 191;
                until := until - 1;
            END LOOP;
            piece := substr(value, place + 1, until - place);
            stride := stride / 4;
            IF position('\x00'::bytea IN piece) = 0 THEN
                BEGIN
                    parts := parts || convert_from(piece, 'UTF8');
                    place := until;
                    stride := least(8 * stride, 1048576);
                EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
                    NULL;
                END;
            END IF;
            CONTINUE;
        END IF;
        lead := get_byte(value, place);
        following := CASE WHEN lead BETWEEN 1 AND 127 THEN 0 WHEN lead BETWEEN 194 AND 223 THEN 1
            WHEN lead BETWEEN 224 AND 239 THEN 2 WHEN lead BETWEEN 240 AND 244 THEN 3 ELSE -1 END;
        least_byte := CASE lead WHEN 224 THEN 160 WHEN 240 THEN 144 ELSE 128 END;
        most_byte := CASE lead WHEN 237 THEN 159 WHEN 244 THEN 143 ELSE 191 END;
        taken := 0;
        WHILE taken < following AND place + taken + 1 < size
            AND get_byte(value, place + taken + 1) BETWEEN least_byte AND most_byte
        LOOP
            taken := taken + 1;
            least_byte := 128;
            most_byte := 191;
        END LOOP;
        IF taken = following THEN
            parts := parts || convert_from(substr(value, place + 1, 1 + taken), 'UTF8');
        ELSE
            parts := parts || U&'\FFFD'::text;
            replaced := replaced + 1;
            stride := 16;
        END IF;
        place := place + 1 + taken;
    END LOOP;
    parts := string_to_array(array_to_string(parts, ''), U&'\FFFD');
    RETURN array_to_string(parts[1:256], U&'\FFFD') || CASE WHEN cardinality(parts) > 256 THEN U&'\FFFD' ELSE '' END;
END
$$;

-- What abi_values() has read: the JSON texts of values, null where the data does not have them; how many
-- values and bytes may still be read; and where the last value's encoding ends.
DO $$
BEGIN
    IF to_regtype('abi_reading') IS NULL THEN
        CREATE TYPE abi_reading AS (texts text[], values_left integer, bytes_left bigint, ending bigint);
    END IF;
END
$$;

-- Values in the data of a log, whose heads begin at a place: as many as `types` has, or `length` of the one
-- type that it is. The bounds and rules are those of scan/contracts/abi.py: what the data makes of more values
-- or bytes than there are left is not read. A type is [kind, size, dynamic, bytes of its head, decimals,
-- items, labels]. With `ends`, the data has to be the encoding of the values, and nothing else (encode()
-- there): its places are those at which bytes may end without padding.
CREATE OR REPLACE FUNCTION abi_values(types jsonb, length integer, data bytea, start bigint,
    values_left integer, bytes_left bigint, ends bigint[])
RETURNS abi_reading LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    size bigint := octet_length(data);
    count integer := coalesce(length, jsonb_array_length(types));
    type jsonb := types;
    kind text;
    bits integer;
    is_dynamic boolean;
    head_bytes bigint;
    head bigint := start;
    place bigint;
    ending bigint := start;        -- of a canonical encoding: where the next tail begins
    word bytea;
    items bigint;
    number numeric;
    text text;
    texts text[] := '{}';
    inner_reading abi_reading;
    is_strict boolean := ends IS NOT NULL;
    nothing abi_reading;
BEGIN
    IF is_strict THEN
        ending := start + CASE WHEN length IS NULL
            THEN (SELECT coalesce(sum((t->>3)::bigint), 0) FROM jsonb_array_elements(types) AS t)
            ELSE length * (types->>3)::bigint END;
    END IF;
    FOR index IN 0 .. count - 1 LOOP
        IF length IS NULL OR index = 0 THEN
            IF length IS NULL THEN
                type := types->index;
            END IF;
            kind := type->>0;
            bits := type->>1;
            is_dynamic := type->2;
            head_bytes := type->3;
        END IF;
        values_left := values_left - 1;
        IF values_left < 0 THEN
            RETURN nothing;
        END IF;
        place := head;
        IF is_dynamic THEN
            bytes_left := bytes_left - 32;
            word := substr(data, head::integer + 1, 32);
            IF head + 32 > size OR bytes_left < 0
                OR substr(word, 1, 28) <> '\x00000000000000000000000000000000000000000000000000000000'::bytea
            THEN
                RETURN nothing;
            END IF;
            place := start + ('x' || encode(substr(word, 29), 'hex'))::bit(32)::bigint;
            IF place > size OR is_strict AND place <> ending THEN
                RETURN nothing;
            END IF;
        END IF;
        IF kind IN ('bytes', 'string') OR kind = 'array' AND bits IS NULL THEN
            bytes_left := bytes_left - 32;
            word := substr(data, place::integer + 1, 32);
            IF place + 32 > size OR bytes_left < 0
                OR substr(word, 1, 28) <> '\x00000000000000000000000000000000000000000000000000000000'::bytea
            THEN
                RETURN nothing;
            END IF;
            items := ('x' || encode(substr(word, 29), 'hex'))::bit(32)::bigint;
            place := place + 32;
        ELSE
            items := bits;
        END IF;
        IF kind IN ('bytes', 'string') THEN
            bytes_left := bytes_left - items;
            IF place + items > size OR bytes_left < 0 THEN
                RETURN nothing;
            END IF;
            word := substr(data, place::integer + 1, items::integer);
            text := CASE kind WHEN 'bytes' THEN '"0x' || encode(word, 'hex') || '"'
                ELSE to_json(abi_text(word))::text END;
            IF is_strict THEN
                ending := place + items;
                IF kind = 'string' OR NOT ending = ANY (ends) THEN
                    IF ending + (-items & 31) > size OR substr(data, ending::integer + 1, (-items & 31)::integer)
                        <> substr('\x00000000000000000000000000000000000000000000000000000000000000'::bytea,
                            1, (-items & 31)::integer)
                    THEN
                        RETURN nothing;
                    END IF;
                    ending := ending + (-items & 31);
                END IF;
            END IF;
        ELSIF kind IN ('array', 'tuple') THEN
            IF kind = 'array' AND (items > values_left
                OR place + items * (type->5->0->>3)::bigint > size)
            THEN
                RETURN nothing;
            END IF;
            inner_reading := abi_values(CASE kind WHEN 'array' THEN type->5->0 ELSE type->5 END,
                CASE kind WHEN 'array' THEN items::integer END, data, place, values_left, bytes_left,
                CASE WHEN is_strict THEN '{}'::bigint[] END);
            IF inner_reading.texts IS NULL THEN
                RETURN nothing;
            END IF;
            values_left := inner_reading.values_left;
            bytes_left := inner_reading.bytes_left;
            IF is_strict AND is_dynamic THEN
                ending := inner_reading.ending;
            END IF;
            IF kind = 'tuple' AND type->6 <> 'null'::jsonb THEN
                text := '{' || coalesce((SELECT string_agg(to_json(member.label)::text || ':' || member.value, ',')
                    FROM (SELECT jsonb_array_elements_text(type->6) AS label,
                        unnest(inner_reading.texts) AS value) AS member), '') || '}';
            ELSE
                text := '[' || array_to_string(inner_reading.texts, ',') || ']';
            END IF;
        ELSE
            bytes_left := bytes_left - 32;
            IF place + 32 > size OR bytes_left < 0 THEN
                RETURN nothing;
            END IF;
            word := substr(data, place::integer + 1, 32);
            IF kind = 'uint' THEN
                IF is_strict AND substr(word, 1, 32 - bits / 8) <> substr(
                    '\x00000000000000000000000000000000000000000000000000000000000000'::bytea, 1, 32 - bits / 8)
                THEN
                    RETURN nothing;
                END IF;
                number := ('0x' || encode(substr(word, 33 - bits / 8), 'hex'))::numeric;
                text := number;
            ELSIF kind = 'int' THEN
                number := ('0x' || encode(substr(word, 33 - bits / 8), 'hex'))::numeric;
                IF get_byte(word, 32 - bits / 8) >= 128 THEN
                    number := number - ('0x1' || repeat('0', bits / 4))::numeric;
                END IF;
                IF is_strict AND substr(word, 1, 32 - bits / 8) <> decode(repeat(
                    CASE WHEN number < 0 THEN 'ff' ELSE '00' END, 32 - bits / 8), 'hex')
                THEN
                    RETURN nothing;
                END IF;
                text := number;
            ELSIF kind = 'address' THEN
                IF substr(word, 1, 12) <> '\x000000000000000000000000'::bytea THEN
                    RETURN nothing;
                END IF;
                text := '"0x' || encode(substr(word, 13), 'hex') || '"';
            ELSIF kind = 'bool' THEN
                IF word = '\x0000000000000000000000000000000000000000000000000000000000000000'::bytea THEN
                    text := 'false';
                ELSIF word = '\x0000000000000000000000000000000000000000000000000000000000000001'::bytea THEN
                    text := 'true';
                ELSE
                    RETURN nothing;
                END IF;
            ELSIF kind = 'bytesN' THEN
                IF is_strict AND substr(word, bits + 1) <> substr(
                    '\x00000000000000000000000000000000000000000000000000000000000000'::bytea, 1, 32 - bits)
                THEN
                    RETURN nothing;
                END IF;
                text := '"0x' || encode(substr(word, 1, bits), 'hex') || '"';
            ELSE -- unknown
                RETURN nothing;
            END IF;
            IF kind IN ('uint', 'int') THEN
                IF type->>4 <> '0' THEN
                    text := trim_scale(number * ('1e-' || (type->>4))::numeric);
                END IF;
                text := '"' || text || '"';
            END IF;
        END IF;
        texts := texts || text;
        head := head + head_bytes;
    END LOOP;
    RETURN ROW(texts, values_left, bytes_left, ending)::abi_reading;
END
$$;

-- The arguments of a log in the order of its event, as JSON: integers as decimal texts, bytes as hex. Null
-- where the log is not one of this event. `indexed` are the types of the arguments in topics, a type of bytes32
-- where these have a hash, `plain` those in the data, `order` says of each argument whether it is indexed.
CREATE OR REPLACE FUNCTION event_arguments(
    indexed jsonb, plain jsonb, argument_order boolean[], is_strict boolean, topics bytea, data bytea)
RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    in_topics abi_reading;
    in_data abi_reading;
    of_topics integer := 0;
    of_data integer := 0;
    texts text[] := '{}';
    is_indexed boolean;
BEGIN
    IF octet_length(topics) <> 32 * jsonb_array_length(indexed) THEN
        RETURN NULL;
    END IF;
    data := coalesce(data, '') || ''::bytea; -- read once, not for each value, where it is stored apart
    in_topics := abi_values(indexed, NULL, topics, 0, 256, 1024, CASE WHEN is_strict THEN '{}'::bigint[] END);
    IF in_topics.texts IS NULL THEN
        RETURN NULL;
    END IF;
    in_data := abi_values(plain, NULL, data, 0, least(100000, octet_length(data) / 16 + 256),
        least(10485760, 4 * octet_length(data)::bigint + 1024), CASE WHEN is_strict THEN (
            SELECT array_append(array_agg(('x' || encode(substr(data, 32 * n + 29, 4), 'hex'))::bit(32)::bigint),
                octet_length(data)::bigint)
            FROM generate_series(0, (SELECT (coalesce(sum((t->>3)::bigint), 0) / 32)::integer - 1
                FROM jsonb_array_elements(plain) AS t)) AS n
            WHERE octet_length(data) >= 32 * (n + 1)) END);
    IF in_data.texts IS NULL OR is_strict AND in_data.ending <> octet_length(data) THEN
        RETURN NULL;
    END IF;
    FOREACH is_indexed IN ARRAY argument_order LOOP
        IF is_indexed THEN
            of_topics := of_topics + 1;
            texts := texts || in_topics.texts[of_topics];
        ELSE
            of_data := of_data + 1;
            texts := texts || in_data.texts[of_data];
        END IF;
    END LOOP;
    RETURN ('[' || array_to_string(texts, ',') || ']')::jsonb;
END
$$;

-- The data of a log `e` in its block `b`, as an expression.
CREATE OR REPLACE FUNCTION log_data() RETURNS text LANGUAGE sql IMMUTABLE
RETURN 'coalesce(e.data, (SELECT l.data FROM logs l WHERE l.ordinal = b.logs_before + e.log_index))';

-- The call of event_arguments() for a log `e` of contract_events in its block `b`, by a form.
CREATE OR REPLACE FUNCTION event_arguments_call(form jsonb, is_anonymous boolean) RETURNS text LANGUAGE sql IMMUTABLE
RETURN format('event_arguments(%L::jsonb, %L::jsonb, %L::boolean[], %L::boolean, %s'
    'coalesce(e.topic1, '''') || coalesce(e.topic2, '''') || coalesce(e.topic3, ''''), %s)',
    form->>'indexed', form->>'plain', translate(form->>'order', '[]', '{}'), is_anonymous,
    CASE WHEN is_anonymous THEN $$coalesce(e.topic0, '') || $$ END,
    CASE WHEN form->'plain' = '[]'::jsonb AND NOT is_anonymous THEN $$''::bytea$$
        ELSE log_data() END);

-- Whether all arguments of a form are words of one value each, which expressions read without a function: a type
-- is as abi_values() reads it.
CREATE OR REPLACE FUNCTION is_of_words(form jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN NOT (form->>'anonymous')::boolean AND NOT EXISTS (
    SELECT FROM jsonb_array_elements((form->'indexed') || (form->'plain')) AS t
    WHERE t->>0 NOT IN ('uint', 'int', 'address', 'bool', 'bytesN') OR t->>4 <> '0');

-- The arguments of a form of words, in the event's order: their types, and the expressions of their words, of a log
-- `e` whose data is `o.data`.
CREATE OR REPLACE FUNCTION words_of_form(form jsonb) RETURNS TABLE (place bigint, type jsonb, word text)
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT a.place, CASE WHEN a.is_indexed THEN form->'indexed'->(a.number - 1) ELSE form->'plain'->(a.number - 1) END,
        CASE WHEN a.is_indexed THEN format('e.topic%s', a.number)
            ELSE format('substr(o.data, %s, 32)', 32 * a.number - 31) END
    FROM (
        SELECT f.place, f.value::boolean AS is_indexed,
            (row_number() OVER (PARTITION BY f.value ORDER BY f.place))::integer AS number
        FROM jsonb_array_elements(form->'order') WITH ORDINALITY AS f (value, place)
    ) AS a
    ORDER BY a.place;
END;

-- The value of a word as a column has it, and whether the word can be of its type; both as expressions.
CREATE OR REPLACE FUNCTION word_value(type jsonb, word text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE type->>0
    WHEN 'uint' THEN format('(''0x'' || encode(substr(%s, %s), ''hex''))::numeric', word, 33 - (type->>1)::integer / 8)
    WHEN 'int' THEN format('abi_int(substr(%s, %s))', word, 33 - (type->>1)::integer / 8)
    WHEN 'address' THEN format('hex(substr(%s, 13))', word)
    WHEN 'bool' THEN format('get_byte(%s, 31) = 1', word)
    ELSE format('hex(substr(%s, 1, %s))', word, type->>1) END;
CREATE OR REPLACE FUNCTION word_fits(type jsonb, word text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE type->>0
    WHEN 'address' THEN format('substr(%s, 1, 12) = %L::bytea', word, decode(repeat('00', 12), 'hex'))
    WHEN 'bool' THEN format('substr(%s, 1, 31) = %L::bytea AND get_byte(%1$s, 31) < 2', word,
        decode(repeat('00', 31), 'hex')) END;

-- A signed integer of so many bytes.
CREATE OR REPLACE FUNCTION abi_int(value bytea) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ('0x' || encode(value, 'hex'))::numeric - CASE WHEN get_byte(value, 0) < 128 THEN 0
    ELSE ('0x1' || repeat('00', octet_length(value)))::numeric END;

-- What a view reads beside a log `e`, of which nothing is read where no column of it is: HAVING makes it one row,
-- so that the planner removes the join, and keeps it from being computed for each column. Of words it is the data
-- `o` and whether it fits the form, `d.fits`; else all arguments, `d.v`.
CREATE OR REPLACE FUNCTION arguments_join(form jsonb) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN is_of_words(form) THEN
    format(' LEFT JOIN LATERAL (SELECT %s AS data HAVING true) AS o ON true'
        ' LEFT JOIN LATERAL (SELECT %s AS fits HAVING true) AS d ON true',
        CASE WHEN form->'plain' = '[]'::jsonb THEN $$''::bytea$$ ELSE log_data() END,
        concat_ws(' AND ',
            format('num_nonnulls(e.topic1, e.topic2, e.topic3) = %s', jsonb_array_length(form->'indexed')),
            format('octet_length(o.data) >= %s', 32 * jsonb_array_length(form->'plain')),
            (SELECT string_agg(word_fits(w.type, w.word), ' AND ' ORDER BY w.place) FROM words_of_form(form) AS w)))
    ELSE format(' LEFT JOIN LATERAL (SELECT %s AS v HAVING true) AS d ON true',
        event_arguments_call(form, (form->>'anonymous')::boolean)) END;

-- Makes the view of a row of event_views, or adds columns to it, and lets the roles read it that may read v1.
-- A form is {anonymous, topic0, first, last, indexed, plain, order, others, rivals, columns}: columns are
-- [name, what, place], where it has the argument (value), the topic (word, address) or that it is malformed.
CREATE OR REPLACE FUNCTION publish_event_view(view event_views) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    query text;
    reader name;
BEGIN
    PERFORM make_schema('events');
    SELECT string_agg(format(
        'SELECT e.block_number, b.timestamp, hex(t.hash) AS transaction_hash, e.log_index, hex(e.address) AS contract'
        '%s FROM contract_events e LEFT JOIN blocks b ON b.number = e.block_number'
        ' LEFT JOIN transactions t ON t.ordinal = b.transactions_before + e.transaction_index'
        '%s WHERE e.address = %L::bytea AND %s%s%s',
        (SELECT string_agg(format(', %s AS %I', CASE of_form.place->>1
                WHEN 'value' THEN CASE WHEN is_of_words(f.value) THEN (
                        SELECT format('CASE WHEN d.fits THEN %s END', word_value(w.type, w.word))
                        FROM words_of_form(f.value) AS w WHERE w.place = (of_form.place->>2)::integer + 1)
                    ELSE CASE c.value->>1
                        WHEN 'jsonb' THEN format('d.v->%s', of_form.place->>2)
                        WHEN 'text' THEN format('d.v->>%s', of_form.place->>2)
                        ELSE format('(d.v->>%s)::%s', of_form.place->>2, c.value->>1) END END
                WHEN 'word' THEN format('e.topic%s', of_form.place->>2)
                WHEN 'address' THEN format('topic_address(e.topic%s)', of_form.place->>2)
                WHEN 'malformed' THEN CASE WHEN is_of_words(f.value) THEN 'd.fits IS NOT TRUE' ELSE 'd.v IS NULL' END
                ELSE format('NULL::%s', c.value->>1) END, c.value->>0), '' ORDER BY c.number)
            FROM jsonb_array_elements(view.columns) WITH ORDINALITY AS c (value, number)
            LEFT JOIN jsonb_array_elements(f.value->'columns') AS of_form (place)
                ON of_form.place->>0 = c.value->>0),
        arguments_join(f.value),
        view.address,
        CASE WHEN NOT (f.value->>'anonymous')::boolean
            THEN format('e.topic0 = %L::bytea', decode(f.value->>'topic0', 'hex'))
            WHEN f.value->'rivals' = 'null'::jsonb THEN 'false'
            ELSE format('(e.topic0 IS NULL OR e.topic0 <> ALL (%L::bytea[])) AND d.v IS NOT NULL',
                    ARRAY(SELECT decode(o, 'hex') FROM jsonb_array_elements_text(f.value->'others') AS o))
                || (SELECT coalesce(string_agg(format(' AND %s IS NULL', event_arguments_call(r, true)), ''), '')
                    FROM jsonb_array_elements(f.value->'rivals') AS r) END,
        CASE WHEN (f.value->>'first')::bigint > 0
            THEN format(' AND e.block_number >= %s', f.value->>'first') END,
        CASE WHEN f.value->>'last' IS NOT NULL
            THEN format(' AND e.block_number <= %s', f.value->>'last') END
        ), ' UNION ALL ' ORDER BY f.number)
    INTO query
    FROM jsonb_array_elements(view.forms) WITH ORDINALITY AS f (value, number);
    EXECUTE format('CREATE OR REPLACE VIEW events.%I AS %s', view.view_name, query);
    FOR reader IN
        SELECT r.rolname FROM pg_roles r
        WHERE shobj_description(r.oid, 'pg_authid') LIKE 'made by scan sql-role%'
            AND to_regnamespace('v1') IS NOT NULL AND has_schema_privilege(r.oid, 'v1', 'USAGE')
    LOOP
        EXECUTE format('GRANT USAGE ON SCHEMA events TO %I', reader);
        EXECUTE format('GRANT SELECT ON events.%I TO %I', view.view_name, reader);
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION remove_event_view(view_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('DROP VIEW IF EXISTS events.%I', view_name);
END
$$;
