-- Stores the answer of a source about a contract in the place of its last one.
-- params: address bytea, source text, code_hash bytea, outcome text, claimed_match text null,
--   reason text null, contract_name text null, compiler_version text null, record text null
-- returns: nothing
-- index: contract_claims_pkey
INSERT INTO contract_claims (
    address, source, code_hash, outcome, claimed_match, reason, contract_name, compiler_version,
    record, answered_at)
VALUES (
    %(address)s, %(source)s, %(code_hash)s, %(outcome)s, %(claimed_match)s, %(reason)s,
    %(contract_name)s, %(compiler_version)s, %(record)s::json, now())
ON CONFLICT (source, address) DO UPDATE
SET code_hash = excluded.code_hash, outcome = excluded.outcome,
    claimed_match = excluded.claimed_match, reason = excluded.reason,
    contract_name = excluded.contract_name, compiler_version = excluded.compiler_version,
    record = excluded.record, answered_at = excluded.answered_at;
