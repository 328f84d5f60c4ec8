-- The record of a search's result. Its holders and first block tell tokens of one name apart, and are null
-- for anything else.
CREATE OR REPLACE FUNCTION search_record(
    type text, value text, name text, symbol text, match text, holders bigint,
    seen_at timestamptz, is_verified boolean, namesake json)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"type":"%s","value":"%s","name":%s,"symbol":%s,"match":"%s","holderCount":%s,"firstSeen":%s,'
    '"verified":%s,%s,"unproven":%s}',
    type, value, json_text(name), json_text(symbol), match, coalesce(holders::text, 'null'),
    coalesce('"' || iso(seen_at) || '"', 'null'), coalesce(is_verified::text, 'null'),
    namesake_fields(namesake),
    CASE WHEN type IN ('token', 'item') THEN '["name","symbol"]' ELSE '[]' END)::json;
