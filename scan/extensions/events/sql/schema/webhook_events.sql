-- How lists, streams and webhooks read logs of followed contracts.

-- What the table of logs has of a log where this one leaves it out (SCAN_LOGS=all).
CREATE OR REPLACE FUNCTION event_data(e contract_events) RETURNS bytea LANGUAGE sql STABLE
RETURN coalesce(e.data, (SELECT l.data FROM blocks b JOIN logs l ON l.ordinal = b.logs_before + e.log_index
    WHERE b.number = e.block_number));

-- Whether arguments match all conditions [[place, `equal`, `least` or `most`, value], ...], of which `equal` has the
-- value as JSON; those of a log that is not of its event match none.
CREATE OR REPLACE FUNCTION arguments_match(conditions jsonb, e decoded_events) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN NOT EXISTS (
    SELECT FROM jsonb_array_elements(conditions) AS c
    WHERE CASE c->>1
        WHEN 'equal' THEN coalesce(e.exact[(c->>0)::integer + 1]::text, (e.args->(c->>0)::integer)::text) = c->>2
        WHEN 'least' THEN (e.args->>(c->>0)::integer)::numeric >= (c->>2)::numeric
        ELSE (e.args->>(c->>0)::integer)::numeric <= (c->>2)::numeric END IS NOT TRUE);

-- Arguments, or their exact texts, by the names of a form.
CREATE OR REPLACE FUNCTION named_arguments(form jsonb, args jsonb, exact json[]) RETURNS json LANGUAGE sql IMMUTABLE
RETURN (
    SELECT coalesce(json_object_agg(n.value->>'name',
        coalesce(exact[n.place], (args->(n.place - 1)::integer)::json) ORDER BY n.place), '{}')
    FROM jsonb_array_elements(form->'arguments') WITH ORDINALITY AS n (value, place));

-- The event of a log of a followed contract as streams and webhooks have it: {name, signature, args}, without args
-- where its data was left out or is malformed, with `alternatives` where it may be of several forms; null where it is
-- none of the contract's events.
CREATE OR REPLACE FUNCTION followed_event(block bigint, log_index integer, is_left_out boolean) RETURNS json
LANGUAGE sql STABLE
RETURN (
    SELECT with_members(
        json_build_object('name', v.event, 'signature', f.value->'signature', 'args',
            CASE WHEN e.args IS NOT NULL AND NOT is_left_out THEN named_arguments(f.value, e.args, e.exact) END)::text,
        json_member('alternatives', CASE WHEN NOT is_left_out THEN (
            SELECT json_agg(named_arguments(f.value, NULL, ARRAY(SELECT json_array_elements(a.args))) ORDER BY a.place)
            FROM json_array_elements(e.alternatives) WITH ORDINALITY AS a (args, place)) END::text))::json
    FROM decoded_events e
    JOIN event_views v ON v.id = e.event
    JOIN LATERAL jsonb_array_elements(v.forms) AS f ON (f.value->>'number')::smallint = e.form
    WHERE e.ordinal = first_ordinal_in(block) + log_index);

-- The logs of followed contracts in a block that the table of logs leaves out, numbered from 0 as streams send them:
-- those of a contract that was added later come later, so that filling its logs changes no number.
CREATE OR REPLACE FUNCTION unstored_events(b blocks) RETURNS TABLE (place bigint, log logs, topic0 bytea)
LANGUAGE sql STABLE AS $$
    SELECT row_number() OVER (ORDER BY c.added_at, c.address, e.ordinal) - 1,
        ROW(e.ordinal, e.block_number, e.log_index, e.transaction_index, NULL, e.address,
            coalesce(e.topic1, '') || coalesce(e.topic2, '') || coalesce(e.topic3, ''), e.data)::logs, e.topic0
    FROM contract_events e
    JOIN followed_contracts c ON c.address = followed_as(e.address)
    WHERE e.ordinal >= first_ordinal_in(b.number) AND e.ordinal <= last_ordinal_in(b.number)
        AND (SELECT k.stored_logs FROM chain k) <> 'all'
        AND NOT EXISTS (SELECT FROM event_topics t
            WHERE t.topic0 = e.topic0 AND (SELECT k.stored_logs FROM chain k) = 'standard')
$$;
