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

# Columns that the audit does not compare, each with its reason; `*` is all of a table.
CHECKED_AT_START = "compared with the node before the indexer writes, by chain_identity.py"
FROM_CONTRACT = "read from the contract once, at a block whose state the node may have dropped"
NOT_COMPARED = {
    "authorizations.is_valid": "follows from the nonces: test_authorizations.py changes it alone",
    "authorizations.fault": "compared with the node; here it would decide is_valid",
    "blocks.withdrawal_count": "whole_chain_check counts the withdrawals",
    "blocks.unproven": "what was proven when it was indexed, which may be otherwise now",
    "blocks.traced": "says what was read from the node then, which it may not have any more",
    "transactions.ordinal": "whole_chain_check: numbered without gaps, in the chain's order",
    "internal_transfers.ordinal": "the same",
    "token_transfers.ordinal": "the same",
    "dex_trades.ordinal": "the same",
    "logs.ordinal": "the same",
    "logs.topic_id": "compared as the first of the topics it stands for",
    "dex_trades.dex_id": "numbers given as exchanges come; whole_chain_check: it exists",
    "tokens.block_number": "whole_chain_check: before its first transfer",
    **{
        f"tokens.{name}": FROM_CONTRACT
        for name in """
            type name symbol decimals total_supply supply_block item_type wraps_since supply_missing
            read_block log_index inconsistent_since ended_in earlier_lives
        """.split()
    },
    "addresses.balance": "the node's, at balance_block, whose state it may have dropped",
    "addresses.balance_block": "when the balance was read",
    "addresses.balance_stale": "that it is to be read again",
    "addresses.unwound": "never outlives the transaction that unwinds",
    "chain.only_row": "there is one",
    "transaction_failures.*": "read from the node when asked for, kept as long as there is room",
    "genesis_balances.*": "read from the node when asked for; `--proofs` compares what adds up",
    "contract_claims.*": "what another explorer said, not what is on the chain",
    "verified_functions.*": "what verified sources said, not what is on the chain",
    # Without rows where all is kept; test_retention.py of retention compares what follows.
    **{
        f"{table}.*": "what removed rows said, which are there no more"
        for table in ("retention", "removed_items", "earlier_sightings")
    },
    "filled_tables.*": "which derived tables have rows of all blocks, not what is in them",
    "bulk_backfill.*": "the state of an unfinished backfill, which has no other",
    "trace_backfill.*": "rows that are not in their tables yet, by the hash of their block",
    "bodies_from.*": "which blocks are stored: one that is not is named",
    "block_bodies.*": "rows are compared with them; each has a digest",
    "table_rebuilds.*": "the state of unfinished work, which has no other",
    "chain.chain_id": CHECKED_AT_START,
    "chain.genesis_hash": CHECKED_AT_START,
    "chain.start_block": "what the operator chose",
    "chain.stored_logs": "what the operator chose",
    "chain.version": "counts changes, whatever they were",
    "dexes.dex_id": "numbers given as exchanges come",
    "event_topics.topic_id": "numbers given as topics come",
    "codes.*": "whole_chain_check: each stands somewhere; code_hash is the code's",
    "contracts.*": FROM_CONTRACT,
    **{
        f"pools.{column}": FROM_CONTRACT
        for column in ("address", "block_number", "dex_id", "token0", "token1")
    },
    "rejected_emitters.*": FROM_CONTRACT,
    "contract_changes.*": FROM_CONTRACT,
    "orphaned_blocks.*": "a journal of what the chain has no more",
    **{
        f"{table}.*": "not of the chain"
        for table in """
            migrations schema_state indexer_status labels label_state api_keys api_key_owners
            webhooks webhook_secrets delivery_queues mail_subscriptions mail_requests deliveries
            event_bodies dispatchers verified_contracts verification_jobs signatures
            imported_signatures creation_comparisons stored_verifications contract_claims
            listed_tokens logos source_maps creation_maps storage_layouts built_abis replaced_codes
            interfaces
        """.split()
    },
}
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
    "token_holders": ("holder", "token_address"),
    "token_items": ("token_address", "first_ordinal"),
    "tokens": ("address",),
}
ANOTHER = {
    "boolean": "NOT {0}",
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
        if not {f"{table}.*", f"{table}.{column}"} & NOT_COMPARED.keys():
            tables.setdefault(table, {})[column] = kind
    keys = {table: entity.key for table, entity in ENTITIES.items()} | KEYS
    return {
        table: {name: kind for name, kind in found.items() if name not in keys.get(table, ())}
        for table, found in tables.items()
    }


def test_every_column_is_compared_or_says_why_not(copied):
    """One row of each table is changed in all its columns: each of them has to be named."""
    tables = columns_to_audit(copied)
    assert tables.pop("withdrawals").keys() < set(Withdrawal._fields)  # of which there are none
    assert tables.pop("credits").keys() < set(Credit._fields)  # nor of these
    for table, declared in TABLES.items():
        if not execute(copied.database_url, f"SELECT ordinal FROM {table} LIMIT 1"):  # noqa: S608
            # Tests of the extension have rows; what its record declares is compared.
            assert tables.pop(table).keys() < declared.columns.keys()
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
            if (found := re.match(r"(\w+) .*?: (\w+) is ", sentence)) is not None:
                named.add((found[1], found[2].replace("timestamp_s", "timestamp")))
    database.close()
    for table, columns in tables.items():
        for name in columns:
            assert (table, name) in named, (
                f"{table}.{name} is not audited: compare it with the node (ENTITIES in"
                f" block_comparison.py) or with what it derives from ({table}_expected() in"
                " sql/schema/expected.sql), or say in NOT_COMPARED why not"
            )
