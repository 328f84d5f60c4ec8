-- Rows in Etherscan's form.

-- Rows in Etherscan's form: every value is text. `called` is the address that the transaction called, for
-- the name of its function. `missing` names the values that the extension reads from the node: none, the
-- `input`, or `all` that the index may lack. Before Byzantium receipts have no status: a legacy transaction
-- that succeeded in a block without a base fee may be of that time.
CREATE OR REPLACE FUNCTION seconds(value timestamptz) RETURNS bigint LANGUAGE sql STABLE
RETURN extract(epoch FROM value)::bigint;

CREATE OR REPLACE FUNCTION etherscan_transaction_record(t transactions, b blocks, head bigint)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"blockNumber":"%s","timeStamp":"%s","hash":"%s","blockHash":"%s","transactionIndex":"%s",'
    '"from":"%s","to":"%s","value":"%s","gasPrice":"%s","isError":"%s","contractAddress":"%s",'
    '"gasUsed":"%s","confirmations":"%s","nonce":"%s","gas":"%s","cumulativeGasUsed":"%s",'
    '"methodId":"%s","input":"0x","txreceipt_status":"%s","missing":"%s"%s}',
    t.block_number, seconds(b.timestamp), hex(t.hash), hex(b.hash), t.transaction_index,
    hex(t.from_address), coalesce(hex(t.to_address), ''), t.value, t.gas_price,
    CASE WHEN b.unproven IS NOT NULL AND has_unknown_status(t, b) THEN '' WHEN t.status THEN '0' ELSE '1' END,
    coalesce(hex(t.contract_address), ''), t.gas_used,
    head - t.block_number + 1, integer_text(t.nonce), integer_text(t.gas_limit),
    integer_text(t.cumulative_gas_used), coalesce(hex(t.method), '0x'), t.status::integer,
    CASE WHEN t.status AND t.type = '' AND b.base_fee_per_gas IS NULL THEN 'all'
        WHEN t.method IS NOT NULL THEN 'input' END,
    CASE WHEN t.l1_fee IS NOT NULL THEN ',"L1FeesPaid":' || json_integer(t.l1_fee) END)::json;

CREATE OR REPLACE FUNCTION etherscan_token_transfer_record(
    x token_transfers, t transactions, b blocks, k tokens, head bigint)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"blockNumber":"%s","timeStamp":"%s","hash":"%s","blockHash":"%s","from":"%s",'
    '"contractAddress":"%s","to":"%s","value":"%s","tokenID":"%s","tokenName":%s,"tokenSymbol":%s,'
    '"tokenDecimal":"%s","transactionIndex":"%s","gasPrice":"%s","gasUsed":"%s",'
    '"confirmations":"%s","called":"%s","nonce":"%s","gas":"%s","cumulativeGasUsed":"%s",'
    '"methodId":"%s"}',
    x.block_number, seconds(b.timestamp), hex(t.hash), hex(b.hash), hex(x.from_address),
    hex(x.token_address), hex(x.to_address), x.value, x.token_id, json_text((token_of(k, x)).name),
    json_text((token_of(k, x)).symbol), decimals_at(k, x.block_number), x.transaction_index, t.gas_price, t.gas_used,
    head - x.block_number + 1, hex(t.to_address), integer_text(t.nonce),
    integer_text(t.gas_limit), integer_text(t.cumulative_gas_used), coalesce(hex(t.method), '0x'))::json;

-- Fields that the index does not have are empty. `proven` is Scan's own: whether a log proves the transfer.
CREATE OR REPLACE FUNCTION etherscan_internal_transfer_record(
    i internal_transfers, transaction_hash bytea, mined_at timestamptz)
RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"blockNumber":"%s","timeStamp":"%s","hash":"%s","from":"%s","to":"%s","value":"%s",'
    '"contractAddress":"%s","input":"","type":"%s","gas":"","gasUsed":"","traceId":"",'
    '"isError":"0","errCode":"","proven":"%s"}',
    i.block_number, seconds(mined_at), hex(transaction_hash), hex(i.from_address),
    CASE WHEN i.type IN (1, 2) THEN '' ELSE hex(i.to_address) END, i.value,
    CASE WHEN i.type IN (1, 2) THEN hex(i.to_address) ELSE '' END,
    CASE i.type WHEN 4 THEN 'call' ELSE internal_transfer_type(i.type) END,
    (SELECT is_proven_transfer(b, i.from_address, i.to_address, i.value)::integer
    FROM blocks b
    WHERE b.number = i.block_number))::json;
