"""Which values of a block are proven, computed or said: each stored column, by its table.

Columns of records have their kind where they are declared (Column); those of other tables have it
here. docs/sql.md, the OpenAPI document and the tests read this table.
"""

from collections.abc import Mapping
from functools import cache

from scan.ethereum.blocks import BLOCK_COLUMNS, TRANSACTION_COLUMNS, Uncle, Withdrawal
from scan.ethereum.column_types import (
    COMPUTED,
    PROVEN,
    SAID,
    Column,
    ValueKind,
    annotated_columns,
)
from scan.ethereum.contract_creations import ContractCreation
from scan.ethereum.forms.form import Credit
from scan.ethereum.internal_transfers import InternalTransfer
from scan.indexer.block_rows import TABLES

Kinds = Mapping[str, ValueKind]
_STORED_AS = {"timestamp_s": "timestamp"}  # of blocks
_OF_LOG = {
    **dict.fromkeys(("block_number", "transaction_index", "log_index"), PROVEN),
    "ordinal": COMPUTED,
}
# Counts of rows and sums over them, which the indexer makes.
_OF_BLOCK = dict.fromkeys(
    """
    transactions_before token_transfers_before dex_trades_before logs_before
    internal_transfers_before traced_before untraced_before unproven_before transaction_count
    token_transfer_count dex_trade_count internal_transfer_count log_count gas_price_sum
    withdrawal_count traced
    """.split(),
    COMPUTED,
)
_DERIVED: Mapping[str, Kinds] = {
    "logs": _OF_LOG | {"topic_id": COMPUTED} | dict.fromkeys(("address", "topics", "data"), PROVEN),
    "event_topics": {"topic_id": COMPUTED, "topic0": PROVEN, "log_count": COMPUTED},
    "log_emitters": {"address": PROVEN, "block_number": PROVEN},
    # A contract may emit any event: what its logs say is proven to be what they say.
    "token_transfers": _OF_LOG
    | {"batch_index": COMPUTED}
    | dict.fromkeys(("token_address", "from_address", "to_address", "value", "token_id"), PROVEN),
    # Which tokens a pool has, and of which exchange it is, contracts answer when they are called.
    "dex_trades": _OF_LOG
    | dict.fromkeys(("pool_address", "amount_in", "amount_out"), PROVEN)
    | {"maker": COMPUTED}
    | dict.fromkeys(("dex_id", "token_in", "token_out"), SAID),
    "pools": {"address": PROVEN, "block_number": PROVEN, "trade_count": COMPUTED}
    | dict.fromkeys(("dex_id", "token0", "token1"), SAID),
    "dexes": {"dex_id": COMPUTED, "name": SAID, "trade_count": COMPUTED},
    "tokens": dict.fromkeys(("address", "block_number", "log_index"), PROVEN)
    | dict.fromkeys(
        ("type", "name", "symbol", "decimals", "total_supply", "supply_missing", "wraps"), SAID
    )
    | dict.fromkeys(
        """
        read_block supply_block held_supply holder_count negative_holder_count transfer_count
        item_count
        """.split(),
        COMPUTED,
    ),
    # The node says the code, of which the others are made.
    "codes": dict.fromkeys(("code_hash", "code", "is_proxy"), SAID),
    "contracts": {"address": PROVEN, "block_number": COMPUTED, "code_hash": SAID},
}
# In which cases a value is said, and its block's `unproven`, or its record's, says so.
SAID_WHERE: Mapping[tuple[str, str], str] = {
    ("blocks", "size"): "Avalanche's have more than transactions",
    ("blocks", "blob_base_fee"): "forks are unknown",
    ("blocks", "chain_fields"): "neither its header nor its transactions have them",
    ("transactions", "chain_fields"): "neither its hash nor receiptsRoot covers them",
    ("transactions", "from_address"): "neither a signature nor its hash has it",
    ("transactions", "status"): "it used all gas before Byzantium",
    ("transactions", "gas_price"): "its type has none",
    ("transactions", "nonce"): "its type has none",
    ("transactions", "fee"): "L1 or an operator gets parts",
    ("transactions", "blob_gas_price"): "forks are unknown",
    ("credits", "amount_wei"): "of L1's fees and of burns",
    # Of others the transaction's receipt, or its sender and nonce, say it.
    **{
        ("contract_creations", column): "a contract created it"
        for column in ("address", "creator", "block_number", "transaction_index")
    },
}


def _record(record: type) -> dict[str, ValueKind]:
    return _of(annotated_columns(record))


def _of(columns: Mapping[str, Column]) -> dict[str, ValueKind]:
    return {name: column.kind for name, column in columns.items()}


@cache
def stored_values() -> Mapping[str, Kinds]:
    """Return the kind of each column of each table that has values of blocks."""
    blocks = {_STORED_AS.get(name, name): kind for name, kind in _of(BLOCK_COLUMNS).items()}
    placed = {"block_number": PROVEN}
    return {
        "blocks": blocks | _OF_BLOCK,
        "transactions": {"ordinal": COMPUTED, **placed, **_of(TRANSACTION_COLUMNS)},
        "withdrawals": placed | _record(Withdrawal),
        "uncles": _record(Uncle),
        "credits": _record(Credit),
        "internal_transfers": {"ordinal": COMPUTED, **placed, **_record(InternalTransfer)},
        "contract_creations": _record(ContractCreation),
        **_DERIVED,
        **{
            name: _of(table.columns) | dict.fromkeys(table.filled_later, COMPUTED)
            for name, table in TABLES.items()
        },
    }
