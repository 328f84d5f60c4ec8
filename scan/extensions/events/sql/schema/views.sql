-- Events of followed contracts: the schema of their views.

DO $$ BEGIN PERFORM make_schema('events'); END $$;

-- Makes the view of a row of event_views, or adds columns to it, and lets the roles read it that may read v1.
-- A form has a number and columns [name, what, place]: the argument at a place (value), the bytes of a topic (key),
-- that it is malformed, or the address of a child contract (emitter).
CREATE OR REPLACE FUNCTION publish_event_view(view event_views) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    query text;
    reader name;
BEGIN
    PERFORM make_schema('events');
    SELECT string_agg(format(
        'SELECT e.block_number, b.timestamp, hex(t.hash) AS transaction_hash,'
        ' (e.ordinal - first_ordinal_in(e.block_number))::integer AS log_index, %s::text AS contract%s'
        ' FROM decoded_events e LEFT JOIN blocks b ON b.number = e.block_number'
        ' LEFT JOIN transactions t ON t.ordinal = b.transactions_before + e.transaction_index'
        ' WHERE e.event = %s AND e.form = %s',
        CASE octet_length(view.address) WHEN 20 THEN quote_literal(hex(view.address)) ELSE 'hex(e.emitter)' END,
        (SELECT string_agg(format(', %s AS %I', CASE of_form.place->>1
                WHEN 'value' THEN format(CASE c.value->>1 WHEN 'jsonb' THEN $s$nullif(e.args->%s, 'null')$s$
                    WHEN 'text' THEN 'e.args->>%s' ELSE '(e.args->>%s)::%s' END, of_form.place->>2, c.value->>1)
                WHEN 'key' THEN format('e.key%s', of_form.place->>2)
                WHEN 'malformed' THEN 'e.args IS NULL'
                WHEN 'emitter' THEN 'e.emitter'
                ELSE format('NULL::%s', c.value->>1) END, c.value->>0), '' ORDER BY c.number)
            FROM jsonb_array_elements(view.columns) WITH ORDINALITY AS c (value, number)
            LEFT JOIN jsonb_array_elements(f.value->'columns') AS of_form (place)
                ON of_form.place->>0 = c.value->>0),
        view.id, f.value->>'number'), ' UNION ALL ' ORDER BY f.number)
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
