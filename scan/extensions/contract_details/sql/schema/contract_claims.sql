-- Claims about contracts: of other explorers, from imports of their verified contracts, and of builds.

-- The last answer of a source about a contract. A claim is kept as it was received and is shown as a
-- claim; nothing is decoded by it, and it becomes a verification only by a compilation here.
CREATE TABLE IF NOT EXISTS contract_claims (
    address bytea NOT NULL,
    source text NOT NULL,          -- the URL that was read, or the file's name; without a key
    code_hash bytea NOT NULL,      -- of the code at the address when the answer was compared
    outcome text NOT NULL CHECK (outcome IN ('verified', 'absent', 'different', 'claimed')),
    claimed_match text CHECK (claimed_match IN ('full', 'partial', 'runtime')), -- null: not stated
    reason text,                   -- why the code differs, or why nothing could be compiled
    contract_name text,
    compiler_version text,
    record json CHECK (octet_length(record::text) <= 12582912), -- a line as in an export; of a claim
    answered_at timestamptz NOT NULL,
    PRIMARY KEY (source, address),
    CHECK ((outcome = 'claimed') = (record IS NOT NULL))
);
-- serves queries/contract_claims_list
CREATE INDEX IF NOT EXISTS contract_claims_by_address
    ON contract_claims (address) WHERE outcome = 'claimed';
CREATE OR REPLACE TRIGGER contract_claims_announced
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON contract_claims
    FOR EACH STATEMENT EXECUTE FUNCTION announce_labels();
