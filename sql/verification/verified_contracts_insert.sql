-- Keeps a verification, unless an equal or better one of the same code is there: "full" is better
-- than "partial", "partial" than "runtime"; of two equal ones, a full creation match is better than a
-- partial one, and that than none. A second partial one may have another ABI with colliding names. A
-- full one without the compiler's metadata file or layouts gives way to one that has it, and one that is known
-- to be of another creation to what matches the present one. What is kept has its functions in
-- verified_functions, and its events and errors in verified_signatures.
-- params: address bytea, code_hash bytea, match text, creation_match text null, contract_name text,
--   file_path text, compiler_version text, license text null, settings json, abi json,
--   sources json, constructor_arguments bytea null, creation_length integer null,
--   creation_hash bytea null, metadata text null, code_length integer,
--   masked_hash bytea, variable_ranges text, code_layouts json null, selectors bytea[], signatures text[],
--   declared_hashes bytea[], declared text[]
-- returns: the address, or no row when nothing was kept
-- index: verified_contracts_pkey, verified_functions_pkey, verified_signatures_pkey, creation_comparisons_pkey
WITH kept AS (
    INSERT INTO verified_contracts AS old (
        address, code_hash, match, creation_match, contract_name, file_path, compiler_version, license,
        settings, abi, sources, constructor_arguments, creation_length, creation_hash, metadata,
        code_length, masked_hash, variable_ranges, code_layouts, verified_at)
    VALUES (
        %(address)s, %(code_hash)s, %(match)s, %(creation_match)s, %(contract_name)s, %(file_path)s,
        %(compiler_version)s, %(license)s, %(settings)s, %(abi)s, %(sources)s,
        %(constructor_arguments)s, %(creation_length)s, %(creation_hash)s, %(metadata)s,
        %(code_length)s, %(masked_hash)s, %(variable_ranges)s,
        %(code_layouts)s, now())
    ON CONFLICT (address, code_hash) DO UPDATE
    SET match = excluded.match, creation_match = excluded.creation_match,
        contract_name = excluded.contract_name, file_path = excluded.file_path,
        compiler_version = excluded.compiler_version, license = excluded.license,
        settings = excluded.settings, abi = excluded.abi, sources = excluded.sources,
        constructor_arguments = excluded.constructor_arguments,
        creation_length = excluded.creation_length, creation_hash = excluded.creation_hash,
        metadata = excluded.metadata, code_length = excluded.code_length, masked_hash = excluded.masked_hash,
        variable_ranges = excluded.variable_ranges, code_layouts = excluded.code_layouts,
        verified_at = excluded.verified_at, is_indexed = excluded.is_indexed
    WHERE (excluded.match, coalesce(excluded.creation_match, 'unknown'))
            < (old.match, coalesce(old.creation_match, 'unknown')) -- in the order of the alphabet
        OR excluded.match = 'full' AND old.match = 'full'
            AND (old.metadata IS NULL AND excluded.metadata IS NOT NULL OR old.code_layouts IS NULL)
        OR excluded.creation_hash IS NOT NULL AND EXISTS (SELECT
            FROM creation_comparisons e
            WHERE e.address = old.address AND e.code_hash = old.code_hash
                AND e.is_equal <> (e.creation_hash = old.creation_hash))
    RETURNING old.address, old.code_hash
), compared AS (
    DELETE FROM creation_comparisons e
    USING kept
    WHERE e.address = kept.address AND e.code_hash = kept.code_hash AND %(match)s <> 'runtime'
), functions AS (
    INSERT INTO verified_functions (selector, signature)
    SELECT function.selector, function.signature
    FROM kept, unnest(%(selectors)s::bytea[], %(signatures)s::text[]) AS function (selector, signature)
    ON CONFLICT DO NOTHING
), declared AS (
    INSERT INTO verified_signatures (hash, signature, address)
    SELECT declared.hash, declared.signature, kept.address
    FROM kept, unnest(%(declared_hashes)s::bytea[], %(declared)s::text[]) AS declared (hash, signature)
    ON CONFLICT DO NOTHING
)
SELECT hex(address)
FROM kept;
