-- Sets the labels of addresses, in the place of those they have.
-- params: addresses bytea[], labels text[]
-- returns: nothing
-- index: labels_pkey
INSERT INTO labels (address, label)
SELECT address, label FROM unnest(%(addresses)s::bytea[], %(labels)s::text[]) AS n (address, label)
ON CONFLICT (address) DO UPDATE SET label = excluded.label;
