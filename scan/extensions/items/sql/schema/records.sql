-- The record of an item, whose id is given, as only its first transfer has it.
CREATE OR REPLACE FUNCTION token_item_record(i token_items, token_id numeric, token_type text)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"tokenAddress":"%s","tokenId":"%s","tokenType":"%s","owner":%s,"ownerCount":%s,'
    '"transferCount":%s,"unproven":["tokenType"]}',
    hex(i.token_address), token_id, token_type, json_hex(i.owner),
    coalesce(i.owner_count, (i.owner IS NOT NULL)::integer), i.transfer_count)::json;

CREATE OR REPLACE FUNCTION item_balance_record(t tokens, token_id numeric, balance numeric)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"tokenAddress":"%s","name":%s,"symbol":%s,"type":"%s","tokenId":"%s","balance":"%s",'
    '"unproven":["name","symbol","type"]}',
    hex(t.address), json_text(t.name), json_text(t.symbol), moved_type(t, token_id), token_id, balance)::json;
