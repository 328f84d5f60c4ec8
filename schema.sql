-- The whole schema, safe to repeat: psql reads it as scan/database/migrations.py does, which adds what it
-- renders (sql/schema/*.j2). Amounts are uint256 (numeric(78,0)), hashes and addresses bytea. An included
-- file refers to those above it alone.
\ir sql/schema/state.sql
\ir sql/schema/chain_tables.sql
\ir sql/schema/derived_tables.sql
\ir sql/schema/retention.sql
\ir sql/schema/labels.sql
\ir sql/schema/token_lists.sql
\ir sql/schema/values.sql
\ir sql/schema/records.sql
\ir sql/schema/lists.sql
\ir sql/schema/changes.sql
\ir sql/schema/expected.sql
\ir sql/schema/comparison.sql
\ir sql/schema/api_keys.sql
\ir sql/schema/webhooks.sql
\ir sql/schema/verified_contracts.sql
\ir sql/schema/owners.sql
\ir sql/schema/partitions.sql
