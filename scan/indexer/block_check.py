"""What hashes prove of a block that a node gave, and of each stored column whether its values are
proven, computed or said: docs/sql.md, the OpenAPI document and the tests read that table. Columns
of records have their kind where they are declared (Column), those of other tables here.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any

from scan.ethereum import (
    block_encoding,
    block_hashing,
    client,
    development_nodes,
    rlp_and_tries,
    served_chain,
    transaction_checks,
)
from scan.ethereum.block_validation import Verdict, check_body
from scan.ethereum.blocks import (
    BLOCK_COLUMNS,
    TRANSACTION_COLUMNS,
    BlockJson,
    MalformedBlock,
    StoredBody,
    Uncle,
    Withdrawal,
    read_json,
)
from scan.ethereum.column_types import COMPUTED, PROVEN, Column, ValueKind, annotated_columns
from scan.ethereum.forms import form, matching
from scan.ethereum.sparse_tables import ContractCreation, DelegatedCall, InternalTransfer
from scan.hex import data
from scan.indexer.block_rows import TABLES

log = logging.getLogger(__name__)

MOST_NAME_CHARACTERS = 40
PARENT = "parentHash, which the header does not have"
OWN_HEADER = "header and hash, as the chain has headers of its own form"
UPDATE = "unknown to this version of Scan, update it"
OF_EMPTY_BLOCKS = "transactions and transactionsRoot"  # which blocks with transactions never have
# What their blocks contradict, by the name in web3_clientVersion.
DEVELOPMENT_NODES = {
    # Where it sends in another account's name, and transactions with blobs.
    "anvil": (transaction_checks.UNSIGNED, block_encoding.BLOBS_INSIDE),
    "hardhatnetwork": (OF_EMPTY_BLOCKS, transaction_checks.ADDRESSES_AS_SIGNATURES),
    # It signs in another account's name with a key that it makes of the address.
    "ganache": ("receipts and receiptsRoot", transaction_checks.OTHER_SIGNERS),
}
# The chain whose bodies had a form of their own while it was an L1, without withdrawalsRoot.
L1_OF_CELO = 42_220
# The chain whose transactions from L1 had no signature before Bedrock.
OP_MAINNET = 10


class BlockChecker:
    """Checks blocks of one chain, and remembers by which form of headers they were proven. Unless
    it `computes_senders`, they are the node's."""

    def __init__(
        self, node: client.Node, chain_id: Callable[[], int], *, computes_senders: bool = True
    ) -> None:
        self._node = node
        self._computes_senders = computes_senders
        self._raws: dict[client.Node, block_hashing.RawBlocks] = {}
        self._chain_id = chain_id
        self._orders: list[tuple[str, ...]] = []  # of unknown fields in headers, the newest first
        self._proven_from: int | None = None  # the first block whose header was proven
        self._has_own_form = False  # whether no earlier header of the node is proven
        self._warned: set[str] = set()  # fields that were put in their places

    def check(
        self,
        number: int,
        header: Any,
        receipts: Sequence[Any],
        leaves: Sequence[bytes] | None = None,
        node: client.Node | None = None,
    ) -> Verdict:
        """Check a block, given as structs. `leaves` are the encoded receipts, where these have no
        logs any more; the bytes of its parts are of `node`, by default of the one that serves."""
        node = node or self._node
        raw = block_hashing.RawBlock(
            self._raws.setdefault(node, block_hashing.RawBlocks(node)), number
        )
        try:
            is_proven = self._proves(number, header)
            verdict = Verdict() if is_proven else self._other_proof(number, header, raw)
        except (ValueError, TypeError) as error:
            return Verdict(f"malformed fields of the header ({type(error).__name__})")
        if verdict.contradiction or OWN_HEADER in verdict.unproven:
            return verdict
        chain_id = self._chain_id()
        check = partial(
            check_body,
            header,
            receipts,
            raw,
            chain_id,
            leaves,
            computes_senders=self._computes_senders,
        )
        body = check()
        if body.contradiction in block_hashing.OUT_OF_PLACE and block_hashing.put_in_place(
            header, receipts, chain_id
        ):
            if body.contradiction not in self._warned:
                self._warned.add(body.contradiction)
                text = "block %d, and maybe later ones, have another %s than their roots prove"
                log.warning(text, number, body.contradiction)
            body = check()
        unproven = (*verdict.unproven, *body.unproven)
        if body.contradiction and self._is_excused(header, body.contradiction):
            unproven = (*unproven, body.contradiction)
            if number > 0 and int(header.parentHash, 16) == 0:
                # hardhat_mine makes most of many blocks without it.
                parent = node.call("eth_getBlockByNumber", hex(number - 1), False)
                if isinstance(parent, dict):
                    header.parentHash = str(parent.get("hash"))
                unproven = (*unproven, PARENT)
            return body._replace(contradiction="", unproven=unproven)
        return body._replace(unproven=unproven)

    def record_proven(self, number: int) -> None:
        """Record that the chain has a block whose header was proven."""
        if self._proven_from is None or number < self._proven_from:
            self._proven_from = number
            self._has_own_form = False

    def _other_proof(self, number: int, header: Any, raw: block_hashing.RawBlock) -> Verdict:
        """Return the verdict on a header that its fields do not prove."""
        encoded = raw.header()
        if encoded is not None and rlp_and_tries.keccak256(encoded) == data(header.hash, 32):
            self.record_proven(number)
            return Verdict(
                "" if block_hashing.agrees_with_bytes(header, encoded) else "header and its bytes"
            )
        is_like_ethereum = self._chain_id() in matching.LIKE_ETHEREUM
        if not is_like_ethereum and not self._has_own_form:
            # The next header of the node and earlier ones are read, until one before the block is
            # proven: a chain whose headers have a form of their own has none.
            earlier = [number - (1 << power) for power in range(number.bit_length())]
            numbers = [number + 1, *earlier] + [0] * (number > 0)
            calls = [client.Call("eth_getBlockByNumber", (hex(other), False)) for other in numbers]
            for other, answer in zip(numbers, self._node.batch(calls), strict=True):
                with suppress(MalformedBlock):
                    if isinstance(answer, dict):
                        read = read_json({**answer, "transactions": []}, BlockJson, other)
                        if self._proves(other, read) and other < number:
                            break
        has_proven = self._proven_from is not None and self._proven_from < number
        if is_like_ethereum or has_proven:
            fields = _listed(sorted(block_hashing.unknown_fields(header)))
            return Verdict("header and hash" + (f", with fields {fields}, {UPDATE}" * bool(fields)))
        self._has_own_form = True
        return Verdict("", (OWN_HEADER,))

    def _proves(self, number: int, header: Any) -> bool:
        """Return whether the block's hash covers the header, maybe with unknown fields, whose order
        is remembered; and record it."""
        fields = block_hashing.unknown_fields(header) if self._orders else {}
        order = next((order for order in self._orders if fields.keys() >= {*order}), ())
        if block_hashing.encoded_header(header, [fields[name] for name in order]) is None:
            learnt = block_hashing.find_order(header, block_hashing.unknown_fields(header))
            if not learnt:
                return False
            if learnt not in self._orders:
                log.warning("since block %d headers have %s, %s", number, _listed(learnt), UPDATE)
                self._orders = sorted([*self._orders, learnt], key=len, reverse=True)
        self.record_proven(number)
        return True

    def _is_excused(self, header: Any, contradiction: str) -> bool:
        """Return whether blocks of this chain, or of this node for development, are known to have
        it."""
        chain_id = self._chain_id()
        if chain_id == L1_OF_CELO:
            return header.withdrawalsRoot is None
        if chain_id == OP_MAINNET:
            return contradiction == transaction_checks.UNSIGNED_SENDERS
        is_of_empty = contradiction == OF_EMPTY_BLOCKS
        if chain_id != served_chain.DEVELOPMENT or (is_of_empty and header.transactions):
            return False
        try:
            program = development_nodes.program_of(self._node)
        except client.NodeError:
            return False
        return contradiction in DEVELOPMENT_NODES.get(program, ())


def _listed(names: Any) -> str:
    return ", ".join(name[:MOST_NAME_CHARACTERS] for name in names)


Kinds = Mapping[str, ValueKind]
_STORED_AS = {"timestamp_s": "timestamp"}  # of blocks


def _kinds(proven: str = "", computed: str = "", said: str = "") -> dict[str, ValueKind]:
    """Return the kinds of columns, given by their names."""
    names = zip(ValueKind, (proven, computed, said), strict=True)
    return {name: kind for kind, of_kind in names for name in of_kind.split()}


# Counts of rows and sums over them, which the indexer makes.
_OF_BLOCK = _kinds(
    computed="""
    transactions_before token_transfers_before dex_trades_before logs_before
    internal_transfers_before traced_before untraced_before unproven_before transaction_count
    token_transfer_count dex_trade_count internal_transfer_count log_count gas_price_sum
    withdrawal_count traced
    """
)
_OF_LOG = "block_number transaction_index log_index"
_DERIVED: Mapping[str, Kinds] = {
    "logs": _kinds(f"{_OF_LOG} address topics data", "ordinal topic_id"),
    "event_topics": _kinds("topic0", "topic_id log_count"),
    "log_emitters": _kinds("address block_number"),
    # A contract may emit any event: what its logs say is proven to be what they say.
    "token_transfers": _kinds(
        f"{_OF_LOG} token_address from_address to_address value token_id", "ordinal batch_index"
    ),
    # Which tokens a pool has, and of which exchange it is, contracts answer when they are called.
    "dex_trades": _kinds(
        f"{_OF_LOG} pool_address amount_in amount_out", "ordinal maker", "dex_id token_in token_out"
    ),
    "pools": _kinds("address block_number", "trade_count", "dex_id token0 token1"),
    "dexes": _kinds("", "dex_id trade_count", "name"),
    "tokens": _kinds(
        "address block_number log_index",
        """
        read_block supply_block inconsistent_since contradicted asked_holders drawn_holders
        is_reported name_since symbol_since dated held_supply
        holder_count transfer_count item_transfer_count item_count
        """,
        """
        type name symbol decimals total_supply supply_missing item_type has_holdings wraps_since
        ended_in earlier_lives
        """,
    ),
    # The node says the code, of which the others are made.
    "codes": _kinds(said="code_hash code delegation is_proxy"),
    "contracts": _kinds("address", "block_number", "code_hash"),
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
        "block_bodies": placed | _record(StoredBody),
        "uncles": _record(Uncle),
        "credits": _record(form.Credit),
        "internal_transfers": {"ordinal": COMPUTED, **placed, **_record(InternalTransfer)},
        "contract_creations": _record(ContractCreation),
        "delegated_calls": _record(DelegatedCall),
        **_DERIVED,
        **{
            name: _of(table.columns) | dict.fromkeys(table.filled_later, COMPUTED)
            for name, table in TABLES.items()
        },
    }
