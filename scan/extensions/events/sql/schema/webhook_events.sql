-- How lists, streams and webhooks read logs of followed contracts.

-- What the table of logs has of a log where this one leaves it out (SCAN_LOGS=all).
CREATE OR REPLACE FUNCTION event_data(e contract_events) RETURNS bytea LANGUAGE sql STABLE
RETURN coalesce(e.data, (SELECT l.data FROM blocks b JOIN logs l ON l.ordinal = b.logs_before + e.log_index
    WHERE b.number = e.block_number));

-- The topics of a log that have its arguments: those of an anonymous event have the first, too.
CREATE OR REPLACE FUNCTION event_topics(e contract_events, is_anonymous boolean) RETURNS bytea
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN is_anonymous THEN coalesce(e.topic0, '') ELSE ''::bytea END
    || coalesce(e.topic1, '') || coalesce(e.topic2, '') || coalesce(e.topic3, '');

-- Whether a log is of none of the other anonymous events that have as many topics; null: there are too many.
CREATE OR REPLACE FUNCTION is_of_none(rivals jsonb, topics bytea, data bytea) RETURNS boolean LANGUAGE sql STABLE
RETURN rivals <> 'null'::jsonb AND NOT EXISTS (
    SELECT FROM jsonb_array_elements(rivals) AS r
    WHERE event_arguments(r->'indexed', r->'plain', translate(r->>'order', '[]', '{}')::boolean[], true, topics, data)
        IS NOT NULL);

-- Whether arguments match all conditions [[place, `equal`, `least` or `most`, value], ...]; those of a log that
-- is not of its event match none.
CREATE OR REPLACE FUNCTION arguments_match(conditions jsonb, arguments jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN arguments IS NOT NULL AND NOT EXISTS (
    SELECT FROM jsonb_array_elements(conditions) AS c
    WHERE NOT CASE c->>1
        WHEN 'equal' THEN arguments->>(c->>0)::integer = c->>2
        WHEN 'least' THEN (arguments->>(c->>0)::integer)::numeric >= (c->>2)::numeric
        ELSE (arguments->>(c->>0)::integer)::numeric <= (c->>2)::numeric END);

-- An event {name, signature, args} of a view's form, with its arguments by name.
CREATE OR REPLACE FUNCTION named_arguments(event text, form jsonb, arguments jsonb) RETURNS json LANGUAGE sql STABLE
RETURN json_build_object('name', event, 'signature', form->'signature', 'args', CASE WHEN arguments IS NOT NULL
    THEN (SELECT coalesce(json_object_agg(n.value->>'name', arguments->(n.place - 1)::integer ORDER BY n.place), '{}')
        FROM jsonb_array_elements(form->'arguments') WITH ORDINALITY AS n (value, place)) END);

-- The topics of a log from a place on as one value.
CREATE OR REPLACE FUNCTION topics_from(log_topics jsonb, first integer) RETURNS bytea LANGUAGE sql IMMUTABLE
RETURN coalesce((SELECT string_agg(decode(substr(t.value, 3), 'hex'), '' ORDER BY t.place)
    FROM jsonb_array_elements_text(log_topics) WITH ORDINALITY AS t (value, place) WHERE t.place >= first), '');

-- The event of a log of a followed contract as streams and webhooks have it: {name, signature, args}, without args
-- where its data was left out or is malformed; null where it is none of the contract's events, of which an anonymous
-- one is known by its data.
CREATE OR REPLACE FUNCTION followed_event(
    of_contract bytea, log_topics jsonb, data bytea, is_left_out boolean, block bigint) RETURNS json LANGUAGE sql STABLE
RETURN coalesce((
    SELECT named_arguments(v.event, f.value, CASE WHEN NOT is_left_out THEN event_arguments(f.value->'indexed',
        f.value->'plain', translate(f.value->>'order', '[]', '{}')::boolean[], false, topics_from(log_topics, 2), data)
        END)
    FROM event_views v
    CROSS JOIN jsonb_array_elements(v.forms) AS f
    WHERE v.address = of_contract AND substr(log_topics->>0, 3) = ANY (v.topics)
        AND f.value->>'topic0' = substr(log_topics->>0, 3)
        AND block >= (f.value->>'first')::bigint AND block <= coalesce((f.value->>'last')::bigint, block)
    ORDER BY v.view_name
    LIMIT 1
), (
    SELECT named_arguments(v.event, f.value, a.v)
    FROM event_views v
    CROSS JOIN jsonb_array_elements(v.forms) AS f
    CROSS JOIN LATERAL (SELECT event_arguments(f.value->'indexed', f.value->'plain',
        translate(f.value->>'order', '[]', '{}')::boolean[], true, topics_from(log_topics, 1), data)) AS a (v)
    WHERE v.address = of_contract AND v.topics = '{}' AND NOT is_left_out AND a.v IS NOT NULL
        AND NOT f.value->'others' ? coalesce(substr(log_topics->>0, 3), '')
        AND block >= (f.value->>'first')::bigint AND block <= coalesce((f.value->>'last')::bigint, block)
        AND is_of_none(f.value->'rivals', topics_from(log_topics, 1), data)
    ORDER BY v.view_name
    LIMIT 1
));

-- The logs of followed contracts in a block that the table of logs leaves out, numbered from 0 as streams send them:
-- those of a contract that was added later come later, so that filling its logs changes no number.
CREATE OR REPLACE FUNCTION unstored_events(b blocks) RETURNS TABLE (place bigint, log logs, topic0 bytea)
LANGUAGE sql STABLE AS $$
    SELECT row_number() OVER (ORDER BY c.added_at, c.address, e.ordinal) - 1,
        ROW(e.ordinal, e.block_number, e.log_index, e.transaction_index, NULL, e.address,
            coalesce(e.topic1, '') || coalesce(e.topic2, '') || coalesce(e.topic3, ''), e.data)::logs, e.topic0
    FROM contract_events e
    JOIN followed_contracts c ON c.address = e.address
    WHERE e.ordinal >= first_ordinal_in(b.number) AND e.ordinal <= last_ordinal_in(b.number)
        AND (SELECT k.stored_logs FROM chain k) <> 'all'
        AND NOT EXISTS (SELECT FROM event_topics t
            WHERE t.topic0 = e.topic0 AND (SELECT k.stored_logs FROM chain k) = 'standard')
$$;
