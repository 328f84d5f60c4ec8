-- GET /api/v1/keys: the keys of an owner, active ones first, newest first. Deleted keys are listed for
-- their usage; of those deleted long ago only the newest.
-- params: owner bytea
-- returns: the answer as JSON text
-- index: api_keys_signed_once
SELECT '{"keys":' || json_list(string_agg(newest.record::text, ',')) || '}'
FROM (
    SELECT api_key_record(k) AS record
    FROM api_keys k
    WHERE k.owner_address = %(owner)s
    ORDER BY k.active DESC, k.created_at DESC, k.id DESC
    LIMIT 100
) newest;
