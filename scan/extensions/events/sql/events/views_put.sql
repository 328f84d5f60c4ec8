-- Makes views of events, or changes how they decode and adds columns.
-- params: address bytea, names text[], events text[], columns text[], forms text[]
-- returns: nothing
-- index: event_views_pkey
WITH stored AS (
    INSERT INTO event_views AS v (view_name, address, event, columns, forms)
    SELECT n.name, %(address)s, n.event, n.columns::jsonb, n.forms::jsonb
    FROM unnest(%(names)s::text[], %(events)s::text[], %(columns)s::text[], %(forms)s::text[])
        AS n (name, event, columns, forms)
    ON CONFLICT (view_name) DO UPDATE SET columns = EXCLUDED.columns, forms = EXCLUDED.forms
    RETURNING v.*
)
SELECT publish_event_view(ROW(s.*)::event_views) FROM stored s;
