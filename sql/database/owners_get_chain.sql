-- What a file of owners' data says of its database, of any version.
-- params: none
-- returns: JSON text of database (its name), and of chainId, genesisHash and newestBlock, null where nothing is indexed
-- index: chain_pkey, blocks_pkey
SELECT json_build_object('database', current_database(), 'chainId', c.chain_id::text,
    'genesisHash', '0x' || encode(c.genesis_hash, 'hex'), 'newestBlock', n.number)::text
FROM (SELECT max(b.number) AS number FROM blocks b) AS n
LEFT JOIN chain c ON n.number IS NOT NULL;
