-- API keys.

-- API keys. A row outlives its key: its uses are shown, and its signed request stays used.
CREATE TABLE IF NOT EXISTS api_keys (
    id bigint PRIMARY KEY CHECK (id BETWEEN 1 AND (1::bigint << 53) - 1), -- random
    owner_address bytea CHECK (octet_length(owner_address) = 20), -- null: of no wallet, made by an operator
    signed_at_ms bigint,           -- the timestamp in the message that the wallet signed
    key_hash bytea NOT NULL UNIQUE CHECK (octet_length(key_hash) = 32), -- SHA-256
    key_prefix text NOT NULL,
    label text NOT NULL CHECK (char_length(label) <= 100),
    requests_per_minute integer NOT NULL CHECK (requests_per_minute > 0),
    total_requests bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz NOT NULL DEFAULT now(),
    active boolean NOT NULL DEFAULT true,
    expires_at timestamptz,        -- null: it does not
    maker_key bigint,              -- where access needs a key: the one by which a wallet could make it, and ends with which
    maker_user text,               -- or the person whom a proxy had signed in
    CHECK (owner_address IS NOT NULL OR signed_at_ms IS NULL),
    -- serves accounts/api_keys_list, accounts/owners_is_claimed, accounts/api_keys_create, has_had_key
    CONSTRAINT api_keys_signed_once UNIQUE (owner_address, signed_at_ms)
);

-- Sessions of people who have signed in by a key. The secret in a cookie is not stored, and each ends with its key.
CREATE TABLE IF NOT EXISTS sessions (
    hash bytea PRIMARY KEY CHECK (octet_length(hash) = 32), -- SHA-256 of the secret
    key_id bigint NOT NULL,
    ends_at timestamptz NOT NULL
);
-- serves accounts/sessions_create
CREATE INDEX IF NOT EXISTS sessions_by_key ON sessions (key_id, ends_at, hash);

-- Requests by day (UTC), for 400 days.
CREATE TABLE IF NOT EXISTS api_key_uses (
    key_id bigint NOT NULL,
    day date NOT NULL,
    requests bigint NOT NULL,
    PRIMARY KEY (key_id, day)
);

-- Whether an address has had a key since before a time: whether it is claimed, for 'infinity'.
CREATE OR REPLACE FUNCTION has_had_key(owner bytea, created_before timestamptz) RETURNS boolean
LANGUAGE sql STABLE
RETURN EXISTS (
    SELECT FROM api_keys k WHERE k.owner_address = owner AND k.created_at < created_before);

-- Whether a key can be used.
CREATE OR REPLACE FUNCTION is_in_force(k api_keys) RETURNS boolean LANGUAGE sql STABLE
RETURN k.active AND coalesce(k.expires_at > now(), true) AND (k.maker_key IS NULL OR EXISTS (
    SELECT FROM api_keys m WHERE m.id = k.maker_key AND m.active AND coalesce(m.expires_at > now(), true)));

CREATE OR REPLACE FUNCTION api_key_record(k api_keys) RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"id":%s,"keyPrefix":%s,"label":%s,"requestsPerMinute":%s,"totalRequests":%s,'
    '"createdAt":"%s","lastUsedAt":"%s","active":%s}',
    k.id, json_text(k.key_prefix), json_text(k.label), k.requests_per_minute, k.total_requests,
    iso(k.created_at), iso(k.last_used_at), is_in_force(k)::text)::json;

-- Requests with an Idempotency-Key, and their answers, as scan/http/idempotent_requests.py seals them.
CREATE TABLE IF NOT EXISTS idempotent_requests (
    key_hash bytea PRIMARY KEY,    -- SHA-256 of who sent it, and the Idempotency-Key
    client text NOT NULL,          -- whose answers are counted: an API key, or a network
    request_hash bytea NOT NULL,   -- SHA-256
    answer bytea,                  -- null while it is being answered
    ends_at timestamptz NOT NULL
);
-- serve http/idempotent_requests_begin
CREATE INDEX IF NOT EXISTS idempotent_requests_by_client ON idempotent_requests (client, ends_at);
CREATE INDEX IF NOT EXISTS idempotent_requests_ended ON idempotent_requests (ends_at);
