-- The distance of pg_trgm, which the embedded PostgreSQL does not have.
CREATE FUNCTION trigrams(name text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT substr('  ' || word || ' ', n, 3)
    FROM regexp_split_to_table(name, '[^[:alnum:]]+') AS word,
        generate_series(1, length(word) + 1) AS n
    WHERE word <> ''
$$;
CREATE FUNCTION trigram_distance(name text, other text) RETURNS real LANGUAGE sql AS $$
    SELECT 1 - shared.number::real / either.number
    FROM (SELECT count(*) FROM (SELECT trigrams(name) INTERSECT SELECT trigrams(other)) AS s)
            AS shared (number),
        (SELECT count(*) FROM (SELECT trigrams(name) UNION SELECT trigrams(other)) AS e)
            AS either (number)
$$;
CREATE OPERATOR <-> (LEFTARG = text, RIGHTARG = text, FUNCTION = trigram_distance);
CREATE INDEX tokens_by_similar_name ON tokens (lower(name));
