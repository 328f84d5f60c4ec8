-- From which block on bodies are stored.
-- params: none
-- returns: no row while SCAN_BODIES=off; else the number
-- index: bodies_from_pkey
SELECT block_number FROM bodies_from;
