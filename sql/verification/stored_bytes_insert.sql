-- Counts what a verification has stored.
-- params: now timestamptz, client text null, bytes bigint
-- returns: nothing
-- index: none
INSERT INTO stored_verifications (stored_at, client, bytes)
VALUES (%(now)s, %(client)s, %(bytes)s);
