-- Stores logos, and gives them to the tokens whose list names their URI.
-- params: uris text[], digests bytea[], content_types text[], contents bytea[]
-- returns: nothing
-- index: logos_pkey
WITH fetched AS (
    SELECT f.uri, f.digest, f.content_type, f.content
    FROM unnest(%(uris)s::text[], %(digests)s::bytea[], %(content_types)s::text[],
        %(contents)s::bytea[]) AS f (uri, digest, content_type, content)
), stored AS (
    INSERT INTO logos (digest, content_type, content)
    SELECT DISTINCT ON (digest) digest, content_type, content FROM fetched
    ON CONFLICT (digest) DO NOTHING
)
UPDATE listed_tokens t
SET logo = f.digest
FROM fetched f
WHERE t.logo_uri = f.uri;
