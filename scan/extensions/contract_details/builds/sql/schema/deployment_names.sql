-- Names of contracts from files that deployments wrote beside the operator's build folders.

-- A name holds for this code, and for this creation where one is indexed.
CREATE TABLE IF NOT EXISTS deployment_names (
    address bytea PRIMARY KEY,
    code_hash bytea NOT NULL,
    creation bytea,         -- the hash of the transaction; null: not indexed
    name text NOT NULL
);
CREATE OR REPLACE TRIGGER deployment_names_announced
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON deployment_names
    FOR EACH STATEMENT EXECUTE FUNCTION announce_labels();

-- The hash of the transaction that created the newest indexed contract at an address; null without one. The planner
-- inlines it.
CREATE OR REPLACE FUNCTION creation_hash_at(at bytea) RETURNS bytea LANGUAGE sql STABLE
RETURN (
    SELECT t.hash
    FROM (SELECT n.block_number, n.transaction_index FROM contract_creations n
        WHERE n.address = at ORDER BY n.ordinal DESC LIMIT 1) AS n
    JOIN blocks b ON b.number = n.block_number
    JOIN transactions t ON t.ordinal = b.transactions_before + n.transaction_index);

-- The name that a deployment gave to the contract that stands at an address now; null without one.
CREATE OR REPLACE FUNCTION deployment_name_at(at bytea) RETURNS text LANGUAGE sql STABLE
RETURN (
    SELECT d.name
    FROM deployment_names d
    JOIN contract_at(at) c ON c.code_hash = d.code_hash
    WHERE d.address = at AND d.creation IS NOT DISTINCT FROM creation_hash_at(at));
