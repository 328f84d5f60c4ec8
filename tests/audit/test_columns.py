"""Every column of the schema is compared by `scan audit`, or says why not."""

import itertools
import re

from scan.audit import derived_tables
from scan.audit.block_comparison import ENTITIES, NodeComparison
from scan.database.connection import Database
from scan.ethereum.blocks import Uncle, Withdrawal
from scan.ethereum.client import Node
from scan.ethereum.forms.form import Credit
from scan.indexer.block_rows import TABLES
from tests.support.auditing import COUNT_HOLDERS, spoil
from tests.support.database import execute

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
    " retention.* removed_items.* earlier_sightings.*"
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
    " followed_contracts.* unfollowed_contracts.* event_views.*"
    " decoded_events.* undecoded_events.*"  # of rows that are compared, by ABIs
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
# What a row is found by: another one there is a row that is missing, and one too many.
KEYS = {
    "log_emitters": ENTITIES["log_emitters"].key,
    "addresses": ("address",),
    "blocks": ("number",),
    "daily_stats": ("day",),
    "dexes": ("name",),
    "event_topics": ("topic0",),
    "item_balances": ("holder", "first_ordinal"),
    "list_checkpoints": ("list", "key", "place"),
    "list_counts": ("list", "key"),
    "pool_candles": ("pool_address", "hour"),
    "pool_volumes": ("pool_address",),
    "token_holder_ranges": ("token_address", "balance_range"),
    "token_ranks": ("address",),
    "token_holders": ("holder", "token_address"),
    "token_items": ("token_address", "first_ordinal"),
    "tokens": ("address",),
}
ANOTHER = {
    "boolean": "NOT coalesce({0}, false)",
    "bytea": "coalesce({0}, '') || int4send({1})",  # not two columns by the same bytes
    "text": "coalesce({0}, '') || {1}",
    "ARRAY": "array_append({0}, '\\x01')",
    "timestamp with time zone": "{0} + interval '1 s'",
}


def columns_to_audit(settings):
    """By table: the columns that have to be compared, and their types."""
    tables = {}
    for table, column, kind in execute(
        settings.database_url,
        "SELECT table_name, column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = 'public' AND NOT EXISTS ("
        "SELECT FROM pg_class WHERE oid = to_regclass(table_name) AND relispartition)",
    ):
        if not {f"{table}.*", f"{table}.{column}"} & NOT_COMPARED:
            tables.setdefault(table, {})[column] = kind
    keys = {table: entity.key for table, entity in ENTITIES.items()} | KEYS
    return {
        table: {name: kind for name, kind in columns.items() if name not in keys.get(table, ())}
        for table, columns in tables.items()
    }


def is_empty(settings, table):
    return not execute(settings.database_url, f"SELECT 1 FROM {table} LIMIT 1")  # noqa: S608


def test_every_column_is_compared_or_says_why_not(copied):
    """One row of each table is changed in all its columns: each of them has to be named."""
    tables = columns_to_audit(copied)
    assert tables.pop("withdrawals").keys() < set(Withdrawal._fields)  # of which there are none
    assert tables.pop("credits").keys() < set(Credit._fields)  # nor of these
    # Tests of the extension have rows; what its record declares is compared.
    for table in [table for table in TABLES if is_empty(copied, table)]:
        assert tables.pop(table).keys() < TABLES[table].columns.keys()
    assert tables.pop("list_counts") == {"count": "bigint"}
    assert tables.pop("uncles").keys() < set(Uncle._fields)
    assert tables.pop("log_emitters") == {}
    spoil(copied, COUNT_HOLDERS)  # as of large tokens, of which there are none
    steps = itertools.count(1, 3)
    for table, columns in tables.items():
        changes = ", ".join(
            # Numbers that grow by one and the same might still add up.
            f"{name} = {ANOTHER.get(kind, 'coalesce({0}, 0) + {1}').format(name, next(steps))}"
            for name, kind in columns.items()
        )
        row = f"SELECT ctid FROM {table} ORDER BY ctid DESC LIMIT 1"  # noqa: S608
        spoil(copied, f"UPDATE {table} SET {changes} WHERE ctid = ({row})")  # noqa: S608
    database = Database(copied.database_url, statement_timeout_ms=0)
    with database.transaction(snapshot=True) as tx:
        named = {
            (section, name)
            for section in derived_tables.DERIVED
            for _, stored, expected, _ in derived_tables.differing_rows(tx, section, 10**6)
            for name, value in (stored or {}).items()
            if value != (expected or {}).get(name)
        }
    comparison = NodeComparison(database, Node(copied.rpc_urls), copied)
    for first, last in comparison.ranges(0):
        for sentence in comparison.compare(first, last):
            for table, column in re.findall(r"^(\w+) .*?: (\w+) is ", sentence):
                named.add((table, column.replace("timestamp_s", "timestamp")))
    database.close()
    for table, columns in tables.items():
        for name in columns:
            assert (table, name) in named, (
                f"{table}.{name} is not audited: compare it with the node (ENTITIES in"
                f" block_comparison.py) or with what it derives from ({table}_expected() in"
                " sql/schema/expected.sql), or say in NOT_COMPARED why not"
            )
