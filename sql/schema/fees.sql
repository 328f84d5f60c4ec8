-- What transactions cost, and who got it.

-- What the sender of a transaction paid for it, with its blobs (EIP-4844: 131,072 gas each); in wei.
CREATE OR REPLACE FUNCTION transaction_fee(t transactions) RETURNS numeric LANGUAGE sql IMMUTABLE
RETURN t.gas_price * t.gas_used + CASE WHEN t.blob_gas_price IS NULL THEN 0
    ELSE 131072 * cardinality(t.blob_versioned_hashes) * integer_text(t.blob_gas_price)::numeric END;

-- What the producer of a block earned by its transactions: what they paid for gas beyond the base fee.
CREATE OR REPLACE FUNCTION producer_fees(b blocks) RETURNS numeric LANGUAGE sql STABLE
RETURN (SELECT coalesce(sum(
        greatest(t.gas_price - coalesce(b.base_fee_per_gas, 0), 0) * t.gas_used), 0)
    FROM transactions t
    WHERE t.ordinal >= b.transactions_before
        AND t.ordinal < b.transactions_before + b.transaction_count);

-- What the transactions of a block paid that nobody got: its base fees, as far as they are known, and what
-- blobs cost.
CREATE OR REPLACE FUNCTION burnt_fees(b blocks) RETURNS numeric LANGUAGE sql STABLE
RETURN coalesce(b.base_fee_per_gas * b.gas_used, 0)
    + (SELECT coalesce(sum(transaction_fee(t) - t.gas_price * t.gas_used), 0)
        FROM transactions t
        WHERE t.ordinal >= b.transactions_before
            AND t.ordinal < b.transactions_before + b.transaction_count
            AND t.blob_gas_price IS NOT NULL);
