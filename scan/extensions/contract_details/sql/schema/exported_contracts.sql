-- What the public export of Sourcify's repository (`scan contracts import --from parquet`) claims of contracts of this
-- chain, also of those that are not indexed yet. It is shown as a claim, where the code at the address is the one that
-- the export names, and becomes a verification only by a compilation here.

CREATE TABLE IF NOT EXISTS exported_contracts (
    address bytea NOT NULL,
    code_hash bytea NOT NULL,      -- of the deployed code, by the export
    compilation_id uuid NOT NULL,
    match text NOT NULL CHECK (match IN ('full', 'partial')), -- by the export
    received_at timestamptz NOT NULL,
    outcome text NOT NULL DEFAULT 'claimed' CHECK (outcome IN ('claimed', 'different')), -- different: by a compilation
    reason text,                   -- why it could not be verified; null: it was, or was not compiled yet
    due_at timestamptz NOT NULL DEFAULT '-infinity', -- when it may be compiled; infinity: it was
    attempts integer NOT NULL DEFAULT 0,
    PRIMARY KEY (address, code_hash)
);
-- serves contract_import/exported_compilations_list_missing
CREATE INDEX IF NOT EXISTS exported_contracts_by_compilation ON exported_contracts (compilation_id);
CREATE OR REPLACE TRIGGER exported_contracts_announced
    AFTER UPDATE OF outcome, reason ON exported_contracts
    FOR EACH STATEMENT EXECUTE FUNCTION announce_labels();

CREATE TABLE IF NOT EXISTS exported_compilations (
    compilation_id uuid PRIMARY KEY,
    contract_name text NOT NULL,
    file_path text NOT NULL,
    compiler_version text NOT NULL,
    settings json NOT NULL CHECK (octet_length(settings::text) <= 1048576),
    abi json CHECK (octet_length(abi::text) <= 1048576) -- null: none, or what is there is no ABI
);

CREATE TABLE IF NOT EXISTS exported_files (
    compilation_id uuid NOT NULL,
    path text NOT NULL,
    source_hash bytea NOT NULL,
    PRIMARY KEY (compilation_id, path)
);
-- serves contract_import/exported_sources_list_missing
CREATE INDEX IF NOT EXISTS exported_files_by_source ON exported_files (source_hash);

CREATE TABLE IF NOT EXISTS exported_sources (
    source_hash bytea PRIMARY KEY, -- SHA-256 of the content
    content text NOT NULL CHECK (octet_length(content) <= 1048576)
);

-- Files of an export that were read whole, so that an interrupted import goes on.
CREATE TABLE IF NOT EXISTS read_export_files (
    file text PRIMARY KEY,         -- its name, without a folder
    state text NOT NULL,           -- what was read: the file's size, and how much it was compared with
    read_at timestamptz NOT NULL
);
CREATE OR REPLACE TRIGGER read_export_files_announced
    AFTER INSERT OR UPDATE ON read_export_files
    FOR EACH STATEMENT EXECUTE FUNCTION announce_labels();

-- Whether all sources of an exported compilation are there, and no more than a verification takes
-- (scan/verification/request.py).
CREATE OR REPLACE FUNCTION exported_sources_are_whole(compilation uuid) RETURNS boolean LANGUAGE sql STABLE
RETURN (
    SELECT count(*) BETWEEN 1 AND 1000 AND count(s.source_hash) = count(*)
        AND coalesce(sum(octet_length(s.content)), 0) <= 1048576
    FROM (SELECT o.source_hash FROM exported_files o WHERE o.compilation_id = compilation LIMIT 1001) AS f
    LEFT JOIN exported_sources s ON s.source_hash = f.source_hash);

-- The sources of an exported compilation, as in a standard JSON input; null where they are not whole.
CREATE OR REPLACE FUNCTION exported_sources_of(compilation uuid) RETURNS json LANGUAGE sql STABLE
RETURN (
    SELECT CASE WHEN exported_sources_are_whole(compilation) THEN (
        SELECT json_object_agg(f.path, json_build_object('content', s.content) ORDER BY f.path)
        FROM exported_files f
        JOIN exported_sources s ON s.source_hash = f.source_hash
        WHERE f.compilation_id = compilation) END);

-- The claim about the code at an address that may be compiled at a moment.
CREATE OR REPLACE FUNCTION exported_contract_due(at bytea, moment timestamptz) RETURNS SETOF exported_contracts
LANGUAGE sql STABLE AS $$
    SELECT e.*
    FROM contract_at(at) AS now
    JOIN exported_contracts e ON e.address = at AND e.code_hash = now.code_hash
    WHERE e.outcome = 'claimed' AND e.due_at <= moment AND e.attempts < 25 AND is_code_indexed(at, e.code_hash)
        AND exported_sources_are_whole(e.compilation_id)
        AND NOT EXISTS (SELECT FROM verification_of(at) AS v WHERE v.match <> 'runtime')
$$;
