"""What an audit does not compare of each table, with the reasons."""

# Columns that the audit does not compare, and why not; `*` is all of a table.
NOT_COMPARED = set(
    # It follows from the nonces, which test_authorizations.py changes; the fault would decide it.
    "authorizations.is_valid authorizations.fault"
    # What was proven, or read from the node, when it was indexed, which may be otherwise now.
    " blocks.unproven blocks.traced"
    # whole_chain_check: counted, numbered without gaps in the chain's order, before a transfer.
    " blocks.withdrawal_count transactions.ordinal internal_transfers.ordinal"
    " token_transfers.ordinal dex_trades.ordinal logs.ordinal tokens.block_number"
    # Compared as the first of the topics that it stands for.
    " logs.topic_id"
    # Numbers given as exchanges and topics come; whole_chain_check: they exist.
    " dex_trades.dex_id dexes.dex_id event_topics.topic_id"
    # Read from the contract once, at a block whose state the node may have dropped.
    " tokens.type tokens.name tokens.symbol tokens.decimals tokens.total_supply tokens.supply_block"
    " tokens.item_type tokens.wraps_since tokens.supply_missing tokens.read_block tokens.log_index"
    " tokens.has_holdings tokens.is_reported tokens.inconsistent_since tokens.contradicted"
    " tokens.name_since tokens.asked_holders tokens.drawn_holders tokens.dated tokens.symbol_since"
    " tokens.ended_in tokens.earlier_lives contracts.* pools.address"
    " pools.block_number pools.dex_id pools.token0 pools.token1 rejected_emitters.*"
    " contract_changes.*"
    # The node's, at balance_block, whose state it may have dropped; `unwound` never outlives the
    # transaction that unwinds.
    " addresses.balance addresses.balance_block addresses.balance_stale addresses.unwound"
    # Read from the node when asked for; `--proofs` compares what adds up.
    " transaction_failures.* genesis_balances.*"
    # What another explorer and verified sources said, not what is on the chain.
    " contract_claims.* verified_functions.* verified_signatures.*"
    # What removed rows said, which are there no more; without rows where all is kept, and
    # test_retention.py of retention compares what follows.
    " retention.* removed_items.* earlier_sightings.* kept_addresses.* kept_transactions.*"
    # The state of unfinished work, which has no other, and of which blocks there are rows.
    " filled_tables.* bulk_backfill.* trace_backfill.* table_rebuilds.* bodies_from.*"
    " stale_tokens.*"
    # Rows are compared with them; each has a digest.
    " block_bodies.*"
    # Compared with the node before the indexer writes, by chain_identity.py; there is one row.
    " chain.chain_id chain.genesis_hash chain.only_row"
    # By traces of blocks of which the node may keep none; and who may hold marked tokens.
    " delegated_calls.* unnamed_holders.*"
    # Of browsers that have signed in; and what is decoded of rows that are compared, by ABIs.
    " sessions.* decoded_events.* undecoded_events.*"
    # What the operator chose, and what counts changes, whatever they were.
    " chain.start_block chain.fork_block chain.is_development chain.stored_logs chain.version"
    " chain.followed_version"
    " contract_event_counts.*"  # of rows that are compared
    " followed_contracts.* followed_children.* unfollowed_contracts.* event_views.*"
    # whole_chain_check: each stands somewhere; code_hash is the code's.
    " codes.*"
    # A journal of what the chain has no more.
    " orphaned_blocks.*"
    # Not of the chain.
    " migrations.* schema_state.* indexer_status.* labels.* label_state.* api_keys.* api_key_uses.*"
    " api_key_owners.* webhooks.* webhook_addresses.* webhook_secrets.*"
    " former_secrets.* idempotent_requests.* delivery_queues.*"
    " deliveries.* event_bodies.* dispatchers.* verified_contracts.*"
    " verification_jobs.* signatures.* imported_signatures.* creation_comparisons.*"
    " stored_verifications.* listed_tokens.* logos.* compiled_sources.*"
    " built_abis.* deployment_names.* replaced_codes.* interfaces.*"
    " read_findings.* restored_sources.* exported_contracts.* exported_compilations.*"
    " exported_files.* exported_sources.* read_export_files.*".split()
)
