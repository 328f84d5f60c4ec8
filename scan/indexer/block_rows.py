"""The rows of a decoded block and of its traces, made once for both writers: as COPY text, and for
the files of a bulk backfill. Each table's columns are the fields of the record whose values become
its rows. Which logs are stored, and which are extracted for webhooks, a LogSelection says. Pure,
but for reading that from the database.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from scan import registry
from scan.cached_values import LazyMapping
from scan.database import connection, transaction
from scan.ethereum import blocks, events, sparse_tables
from scan.ethereum.forms.form import BURN, PLACE_BITS, Credit, numbered
from scan.ethereum.rlp_and_tries import keccak256
from scan.ethereum.token_functions import may_change_unsaid
from scan.ethereum.token_metadata import ItemClaim
from scan.hex import to_hex
from scan.indexer import hooks


class LogSelection(NamedTuple):
    """The stored logs, in the words of SCAN_LOGS, and the watched emitters. With "standard", logs
    are stored whose first topic is in `topics`. `followed` has the emitters of each FollowedTable,
    with the block from which on it has their logs."""

    stored: str
    topics: frozenset[bytes]
    watched: frozenset[bytes]  # emitters that webhooks watch
    followed: Mapping[str, Mapping[bytes, int]] = {}

    def stores(self, log: blocks.EventLog) -> bool:
        if self.stored == "standard":
            return bool(log.topics) and log.topics[0] in self.topics
        return self.stored == "all"

    def for_new_blocks(self) -> "LogSelection":
        """Return the selection with all followed emitters from the first block on: blocks that
        replace orphaned ones have their logs, too."""
        followed = {table: dict.fromkeys(of, 0) for table, of in self.followed.items()}
        return self._replace(followed=followed)


NO_LOGS = LogSelection("none", frozenset(), frozenset())


def read_stored(database: connection.Database | transaction.Transaction) -> LogSelection:
    """Return the selection of this database, which is fixed with its first block."""
    *_, stored, _ = database.row("indexer/chain_get") or ("none", 0)
    topics = database.rows("indexer/event_topics_list") if stored == "standard" else []
    followed = {
        name: {bytes(a): first for a, first in database.rows(table.emitters_list)}
        for name, table in FOLLOWED.items()
    }
    return LogSelection(stored, frozenset(bytes(t) for (t,) in topics), frozenset(), followed)


def watched_selection(selection: LogSelection, database: connection.Database) -> LogSelection:
    """Return the selection with the emitters that webhooks watch now.

    The caller reads the node's head before and the blocks up to it after this call, so that a
    webhook gets the logs of every block that is mined after its registration.
    """
    rows = database.rows("indexer/webhooks_list_log_addresses")
    return selection._replace(watched=frozenset(bytes(address) for (address,) in rows))


def load_standard_topics() -> list[bytes]:
    """Return the first topics of the events in standard_events.json."""
    text = Path(__file__).with_name("standard_events.json").read_text(encoding="utf-8")
    return [
        keccak256(signature.encode()) for group in json.loads(text).values() for signature in group
    ]


class FetchedBlock(NamedTuple):
    """A block with its TracedBlock's transfers, created, destroyed and called contracts, and the
    calls that were passed on."""

    block: blocks.DecodedBlock
    created: Sequence[bytes]
    internal_transfers: Sequence[sparse_tables.InternalTransfer] = ()
    is_traced: bool | None = None
    destroyed: Sequence[bytes] = ()
    called: frozenset[bytes] = frozenset()
    delegated: Mapping[tuple[bytes, bytes], bytes | None] = MappingProxyType({})


Rows = list[tuple[Any, ...]]

# Tables of extensions, and those of extensions that are on, of which rows are written.
TABLES: Mapping[str, sparse_tables.SparseTable] = LazyMapping(
    lambda: registry.merged(rows.tables for rows in registry.parts(hooks.Rows, of_installed=True))
)
WRITTEN: Mapping[str, sparse_tables.SparseTable] = LazyMapping(
    lambda: registry.merged(rows.tables for rows in registry.parts(hooks.Rows))
)
# Those with logs of chosen emitters, which lack what the table of logs has.
FOLLOWED: Mapping[str, sparse_tables.FollowedTable] = LazyMapping(
    lambda: {
        name: table
        for name, table in WRITTEN.items()
        if isinstance(table, sparse_tables.FollowedTable)
    }
)
# The columns of a row's text; the writer prepends the ordinal.
TRANSACTION_COLUMNS = ("block_number", *blocks.DecodedTransaction._fields)
INTERNAL_TRANSFER_COLUMNS = ("block_number", *sparse_tables.InternalTransfer._fields)
TRANSFER_COLUMNS = tuple(
    """
    block_number transaction_index log_index token_address from_address to_address batch_index value
    token_id
    """.split()
)
TRADE_COLUMNS = (
    *"block_number log_index transaction_index pool_address maker dex_id".split(),
    *events.Trade._fields,
)
# The writer puts a number in place of the first topic.
LOG_COLUMNS = tuple("topic0 block_number log_index transaction_index address topics data".split())
BODIES = "block_bodies"
DELEGATED_CALLS = "delegated_calls"
# The columns of tables to whose rows the writer prepends nothing.
UNNUMBERED: Mapping[str, Sequence[str]] = LazyMapping(
    lambda: {
        "withdrawals": ("block_number", *blocks.Withdrawal._fields),
        "credits": Credit._fields,
        "uncles": blocks.Uncle._fields,
        "contract_creations": sparse_tables.ContractCreation._fields,
        "log_emitters": ("address", "block_number"),
        BODIES: ("block_number", *blocks.StoredBody._fields),
        DELEGATED_CALLS: sparse_tables.DelegatedCall._fields,
        **{name: (*table.columns,) for name, table in TABLES.items()},
    }
)


Claim = events.WrapClaim | ItemClaim


class TransferLog(NamedTuple):
    """A log with the form of a transfer, which it is if its contract is a token."""

    shape: events.TransferShape
    token: bytes
    log_index: int
    to_address: bytes = b""
    words: events.Words = ()
    claim: Claim | None = None  # of a Deposit or Withdrawal, or a contract's first Transfer
    row: str = ""  # as transfer_row() makes it


class SwapLog(NamedTuple):
    event: events.SwapEvent
    row: str = ""  # TRADE_COLUMNS up to maker


class WatchedLog(NamedTuple):
    """A log of an address that webhooks watch."""

    block_number: int
    log_index: int
    transaction_index: int
    address: bytes
    topics: str  # JSON
    data: bytes


class BlockContracts(NamedTuple):
    """The parts of a block that the inspection of contracts needs."""

    number: int
    hash: bytes
    parent_hash: bytes
    possible_contracts: tuple[bytes, ...]  # created, destroyed, called or emitting
    created: frozenset[bytes]  # those of possible_contracts that were created in this block
    changed: frozenset[bytes]  # that emitted an event of CHANGES, or whose code may have changed
    transfer_logs: list[TransferLog]
    swap_logs: list[SwapLog]
    pool_events: Sequence[events.PoolEvent] = ()
    called: frozenset[bytes] = frozenset()  # as may_change_unsaid() says, by whom ever


_ClaimedTransfer = tuple[events.TransferEvent, Claim | None]


class TableRows(NamedTuple):
    """The rows of a block, and its events in the form of a transfer or a swap."""

    block: dict[str, Any]  # by column, without those that count transfers and trades
    transactions: Rows
    internal_transfers: Rows
    unnumbered: dict[str, Rows]  # of each table of UNNUMBERED
    logs: Rows  # of stored logs
    possible_contracts: tuple[bytes, ...]  # as BlockContracts has them
    created: frozenset[bytes]
    changed: frozenset[bytes]
    transfers: list[_ClaimedTransfer]
    swaps: list[tuple[events.SwapEvent, bytes]]  # each with its maker
    pools: Sequence[events.PoolEvent]
    called: frozenset[bytes]
    possible: Mapping[str, Sequence[Any]]  # of FollowedTables, of emitters that logs may have named


class BlockRows(NamedTuple):
    """A block as COPY text, one line a row, and the logs that are needed as such.

    It is small beside the block itself, so that another process may make and send it.
    """

    contracts: BlockContracts
    columns: dict[str, Any]  # of the block's row, without those that count transfers and trades
    transactions: list[str]
    internal_transfers: list[str]
    # Of the tables of UNNUMBERED that have rows in it, but BODIES and DELEGATED_CALLS.
    unnumbered: dict[str, str]
    logs: list[str]  # those that are stored
    first_topics: tuple[bytes | None, ...]  # of the stored logs
    watched_logs: list[WatchedLog]
    body: bytes = b""  # its row of BODIES as binary_row() makes it, if there is one
    delegated_calls: Sequence[tuple[Any, ...]] = ()  # of DelegatedCall; few are stored
    possible: Mapping[str, Sequence[Any]] = MappingProxyType({})  # as TableRows has them


def named_rows(
    database: connection.Database | transaction.Transaction, name: str, possible: Sequence[Any]
) -> list[Any]:
    """Return those of the possible rows of a FollowedTable whose emitters logs have named."""
    addresses = {row.address for row in possible}
    named = FOLLOWED[name].named_list
    rows = database.rows(named, addresses=[*addresses]) if addresses else []
    first = {bytes(address): block for address, block in rows}
    return [r for r in possible if r.address in first and first[r.address] <= r.block_number]


def stored_rows(
    database: connection.Database | transaction.Transaction,
    fetched: Sequence[FetchedBlock],
    selection: LogSelection,
) -> list[TableRows]:
    """Return the rows of blocks, with those of emitters that logs have named."""
    made = [table_rows(block, selection) for block in fetched]
    for rows in made:
        for name, possible in rows.possible.items():
            rows.unnumbered[name] += named_rows(database, name, possible)
    return made


def table_rows(fetched: FetchedBlock, selection: LogSelection) -> TableRows:
    block, created_inside, internal_transfers, is_traced, *_ = fetched
    number = block.number
    created = [*(t.contract_address for t in block.transactions if t.contract_address)]
    created += created_inside
    called = (t.to_address for t in block.transactions if t.to_address and t.ran_code)
    contract_emitters = (log.address for log in block.contract_logs)
    emitters = dict.fromkeys([*(log.address for log in block.logs), *created_inside])
    transfers, swaps, changed, pools = _events(block, internal_transfers)
    called_directly = frozenset(
        t.to_address
        for t in block.transactions
        if t.to_address and t.status and may_change_unsaid(t.method or b"", has_emitted=True)
    )
    signed = (entry for _, entries, _ in block.authorization_lists for entry in entries)
    authorities = [authority for _, authority in signed if authority]
    stored = [] if selection.stored == "none" else [e for e in block.logs if selection.stores(e)]
    creations = list(_creations(block, internal_transfers))
    of_extensions: dict[str, Rows] = {}
    possible: dict[str, Rows] = {}
    for name, table in WRITTEN.items():
        if isinstance(table, sparse_tables.FollowedTable):
            followed = selection.followed.get(name, {})
            emitting = {e for e in emitters if followed.get(e, number + 1) <= number}
            are_stored = selection.stored == "all"
            of_extensions[name] = [*table.logs_of(block, emitting, are_stored)] if emitting else []
            if followed.get(b"", number + 1) <= number:
                others = emitters.keys() - followed.keys()
                possible[name] = [*table.logs_of(block, others, are_stored)]
            continue
        has_rows = table.emitters is None or not table.emitters.isdisjoint(emitters)
        of_extensions[name] = [*table.rows(block, internal_transfers)] if has_rows else []
    return TableRows(
        block={name: getattr(block, name) for name in blocks.BLOCK_COLUMNS}
        | {
            "gas_price_sum": str(sum([t.gas_price for t in block.transactions])),
            "withdrawal_count": None if block.withdrawals is None else len(block.withdrawals),
            "traced": is_traced,
            "transaction_count": len(block.transactions),
            "internal_transfer_count": len(internal_transfers),
            "log_count": len(stored),
        },
        transactions=[(number, *t) for t in block.transactions],
        internal_transfers=[(number, *t) for t in internal_transfers],
        unnumbered={
            "withdrawals": [(number, *w) for w in block.withdrawals or ()],
            "credits": [*block.credits, *_burns(block, internal_transfers, creations)],
            "uncles": list(block.uncles),
            "contract_creations": [*creations],
            "log_emitters": [(address, number) for address in emitters],
            BODIES: [(number, *block.body)] if block.body else [],
            DELEGATED_CALLS: [
                sparse_tables.DelegatedCall(*call, number, implementation)
                for call, implementation in (*fetched.delegated.items(), *_named(block))
            ],
            **of_extensions,
        },
        logs=[
            (
                log.topics[0] if log.topics else None,
                *(number, log.log_index, log.transaction_index),
                *(log.address, b"".join(log.topics[1:]), log.data),
            )
            for log in stored
        ],
        possible_contracts=(
            *dict.fromkeys((*created, *fetched.destroyed, *called, *contract_emitters)),
        ),
        created=frozenset(created),
        changed=changed.union(fetched.destroyed, authorities),
        transfers=transfers,
        swaps=swaps,
        pools=pools,
        called=fetched.called | called_directly,
        possible=possible,
    )


_NAMING = {events.BEACON_UPGRADED: b"", events.UPGRADED: b"\0"}


def _named(block: blocks.DecodedBlock) -> Iterator[tuple[tuple[bytes, bytes], bytes]]:
    """Yield the beacon and the implementation that events of a contract name last, as rows of
    delegated_calls have them."""
    named = {}
    for log in block.contract_logs:
        if log.topics and (key := _NAMING.get(log.topics[0])) is not None:
            word = b"".join((*log.topics[1:], log.data[:32]))[:32]  # it may be indexed or not
            named[log.address, key] = word[-20:].rjust(20, b"\0")
    yield from named.items()


def _creations(
    block: blocks.DecodedBlock, internal_transfers: Sequence[sparse_tables.InternalTransfer]
) -> Iterator[sparse_tables.ContractCreation]:
    """Yield the creations of a block in the order of the calls.

    Creations by contracts are read from the internal transfers: without traces they are missing.
    """
    created: list[tuple[int, bytes, bytes | None]] = [
        (transaction.transaction_index, transaction.contract_address, None)
        for transaction in block.transactions
        if transaction.contract_address and transaction.status
    ]
    created += [
        (transfer.transaction_index, transfer.to_address, transfer.from_address)
        for transfer in internal_transfers
        if transfer.type in sparse_tables.CREATIONS
    ]
    created.sort(key=lambda contract: contract[0])
    first = block.number << PLACE_BITS
    for ordinal, (index, address, factory) in enumerate(created[: 1 << PLACE_BITS], first):
        creator = block.transactions[index].from_address
        yield sparse_tables.ContractCreation(
            ordinal, block.number, index, address, creator, factory
        )


def _burns(
    block: blocks.DecodedBlock,
    internal_transfers: Sequence[sparse_tables.InternalTransfer],
    creations: Sequence[sparse_tables.ContractCreation],
) -> tuple[Credit, ...]:
    """Return the burns of a block, after its other credits, by traces that name both parties: what
    contracts that destroyed themselves, in whoever's favour, have at the end of the transaction.

    A contract burns where it was created in the same transaction (EIP-6780), before Cancun any
    contract, and since Amsterdam none (EIP-8246).
    """
    end = sparse_tables.TransferType.SELFDESTRUCT
    have_ended = any(transfer.type == end for transfer in internal_transfers)
    if not have_ended or block.block_access_list_hash is not None:
        return ()
    created = {(c.transaction_index, c.address) for c in creations}
    burnt: dict[tuple[int, bytes], int] = {}  # wei, by transaction and contract
    for transfer in internal_transfers:
        index, value = transfer.transaction_index, transfer.value
        source, recipient = (index, transfer.from_address), (index, transfer.to_address)
        if source in burnt:
            burnt[source] -= value
        elif transfer.type == end and (not block.keeps_destroyed or source in created):
            burnt[source] = 0
        if recipient in burnt:
            burnt[recipient] += value
    burns = [(index, BURN, contract, wei) for (index, contract), wei in burnt.items() if wei > 0]
    return numbered(block, burns, len(block.credits))


def make_block_rows(fetched: FetchedBlock, selection: LogSelection = NO_LOGS) -> BlockRows:
    rows, block = table_rows(fetched, selection), fetched.block
    line = transaction.line
    number = block.number
    bodies = rows.unnumbered.pop(BODIES)
    delegated_calls = rows.unnumbered.pop(DELEGATED_CALLS)
    topics: dict[bytes | None, bytes | None] = {}  # one object for equal ones: pickle sends it once
    watched = []
    for log in block.logs if selection.watched else ():
        if log.address in selection.watched:
            names = json.dumps([to_hex(topic) for topic in log.topics], separators=(",", ":"))
            indexes = number, log.log_index, log.transaction_index
            watched.append(WatchedLog(*indexes, log.address, names, log.data))
    return BlockRows(
        BlockContracts(
            number,
            block.hash,
            block.parent_hash,
            rows.possible_contracts,
            rows.created,
            rows.changed,
            [
                TransferLog(e.shape, e.token, e.log_index, *e[5:], claim, transfer_row(number, e))
                for e, claim in rows.transfers
            ],
            [
                SwapLog(
                    swap,
                    f"{number}\t{swap.log_index}\t{swap.transaction_index}"
                    f"\t\\\\x{swap.pool.hex()}\t\\\\x{maker.hex()}",
                )
                for swap, maker in rows.swaps
            ],
            rows.pools,
            rows.called,
        ),
        rows.block,
        transactions=list(map(line, rows.transactions)),
        internal_transfers=list(map(line, rows.internal_transfers)),
        unnumbered={table: "".join(map(line, of)) for table, of in rows.unnumbered.items() if of},
        logs=[line(columns) for _, *columns in rows.logs],
        first_topics=tuple([topics.setdefault(topic, topic) for topic, *_ in rows.logs]),
        watched_logs=watched,
        body=b"".join(map(transaction.binary_row, bodies)),
        delegated_calls=delegated_calls,
        possible=rows.possible,
    )


def event_count(block: BlockRows) -> int:
    """Return an upper bound of the rows of contracts, transfers and trades of a block."""
    contracts = block.contracts
    moves = sum(len(log.words) for log in contracts.transfer_logs) + len(block.internal_transfers)
    return len(contracts.possible_contracts) + moves + len(contracts.swap_logs)


def long_characters(block: BlockRows) -> int:
    """Return the length of a block's logs as text and of its body, which contracts can make very
    long."""
    watched = 2 * sum(len(log.data) for log in block.watched_logs)
    possible = sum(len(row.data or b"") for of in block.possible.values() for row in of)
    return sum(map(len, block.logs)) + watched + len(block.body) + possible


def transfer_row(number: int, transfer: events.TransferEvent | events.Transfer) -> str:
    """Return the COPY text of TRANSFER_COLUMNS up to from_address. Written out, since a loop over
    the columns took four times as long."""
    return (
        f"{number}\t{transfer.transaction_index}\t{transfer.log_index}\t\\\\x{transfer.token.hex()}"
        f"\t\\\\x{transfer.from_address.hex()}"
    )


def transfer_line(row: str, to: bytes, batch_index: int, value: int, token_id: int | None) -> str:
    """Return the whole COPY line of a transfer, given the beginning that transfer_row() made."""
    return f"{row}\t\\\\x{to.hex()}\t{transaction.line((batch_index or None, value, token_id))}"


def _events(
    block: blocks.DecodedBlock, internal_transfers: Sequence[sparse_tables.InternalTransfer]
) -> tuple[
    list[_ClaimedTransfer],
    list[tuple[events.SwapEvent, bytes]],
    frozenset[bytes],
    list[events.PoolEvent],
]:
    moves: list[events.TransferEvent] = []
    swaps: list[tuple[events.SwapEvent, bytes]] = []
    changed, pools = set(), []
    for log in block.contract_logs:
        if (move := events.transfer_event(log)) is not None:
            moves.append(move)
        elif (swap := events.swap_event(log)) is not None:
            swaps.append((swap, block.transactions[swap.transaction_index].from_address))
        elif log.topics and log.topics[0] in events.CHANGES:
            changed.add(log.address)
        elif (pool := events.pool_event(log)) is not None:
            pools.append(pool)
    moves = events.item_by_item(moves)
    wraps = events.wrap_claims(moves, block.transactions, internal_transfers)
    claims: dict[int, Claim] = {**events.item_claims(moves), **wraps}
    return [(e, claims.get(e.log_index)) for e in moves], swaps, frozenset(changed), pools
