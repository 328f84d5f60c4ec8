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
