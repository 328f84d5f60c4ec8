-- Notes which version of Scan has read a compiler's output of a verified contract.
-- params: address bytea, code_hash bytea, version integer, reason text null
-- returns: nothing
-- index: read_findings_pkey
INSERT INTO read_findings (address, code_hash, version, reason)
VALUES (%(address)s, %(code_hash)s, %(version)s, %(reason)s)
ON CONFLICT (address, code_hash) DO UPDATE
SET version = excluded.version, reason = excluded.reason, is_running = false, attempts = 0;
