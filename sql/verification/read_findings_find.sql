-- Finds verified contracts of which another version of Scan has read the compiler's output, or an unknown one, to be
-- compiled anew: of the next 1,000 after a key.
-- params: version integer, after_address bytea, after_hash bytea
-- returns: address and code_hash of the last one of these; no row where there is none
-- index: verified_contracts_pkey, read_findings_pkey, transactions_by_to
WITH next AS (
    SELECT address, code_hash
    FROM verified_contracts
    WHERE (address, code_hash) > (%(after_address)s, %(after_hash)s)
    ORDER BY address, code_hash
    LIMIT 1000
), outdated AS (
    INSERT INTO read_findings AS f (address, code_hash, version, last_ordinal)
    SELECT n.address, n.code_hash, 0, coalesce((
        SELECT max(t.ordinal)
        FROM transactions t
        WHERE t.to_address = n.address AND t.to_address <> t.from_address), 0)
    FROM next n
    LEFT JOIN read_findings o ON o.address = n.address AND o.code_hash = n.code_hash
    WHERE coalesce(o.version, -1) NOT IN (0, %(version)s)
    ON CONFLICT (address, code_hash) DO UPDATE
    SET version = 0, last_ordinal = excluded.last_ordinal, due_at = '-infinity', is_running = false,
        attempts = 0, reason = NULL
    WHERE f.version NOT IN (0, %(version)s)
)
SELECT address, code_hash
FROM next
ORDER BY address DESC, code_hash DESC
LIMIT 1;
