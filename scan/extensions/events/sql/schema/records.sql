-- Records of logs of followed contracts.

-- The planner inlines this function.
CREATE OR REPLACE FUNCTION contract_event_record(e contract_events, hash bytea, at timestamptz) RETURNS json
LANGUAGE sql STABLE
RETURN json_build_object('blockNumber', e.block_number, 'logIndex', e.log_index,
    'transactionHash', hex(hash), 'timestamp', iso(at), 'address', hex(e.address),
    'topics', array_remove(ARRAY[hex(e.topic0), hex(e.topic1), hex(e.topic2), hex(e.topic3)], NULL));
