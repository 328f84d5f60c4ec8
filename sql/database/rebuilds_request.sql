-- Has tables derived again from stored blocks, unless they are being derived.
-- params: tables text[]
-- returns: nothing
-- index: table_rebuilds_pkey
INSERT INTO table_rebuilds (name) SELECT unnest(%(tables)s::text[]) ON CONFLICT DO NOTHING;
