"""The rows of a backfill's files, made of decoded blocks. Pure.

Whether a contract is a token or a pool is unknown here: events in the form of a transfer or a swap
are candidates. The sights are what the inspection of contracts needs to decide about them later, in
the chain's order.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy
import pyarrow
from pyarrow import compute

from scan.cached_values import LazyMapping
from scan.ethereum.events import CLAIMS, OF_FACES, WRAPPING, TransferShape, trade
from scan.extensions.exports import parquet
from scan.indexer import block_rows
from scan.indexer.block_rows import UNNUMBERED, FetchedBlock, LogSelection, Rows, table_rows

# Events in the form of a transfer, one row for each moved id: TransferEvent with its words.
TRANSFER_EVENTS = parquet.kind(
    block_number=parquet.BLOCK_NUMBER,
    **dict.fromkeys(("transaction_index", "log_index", "batch_index"), parquet.INDEX),
    **dict.fromkeys(("token_address", "from_address", "to_address"), parquet.ADDRESS),
    shape=parquet.TEXT,
    claim=parquet.optional(parquet.TEXT),  # JSON of a WrapClaim or an ItemClaim
    id=parquet.UINT256,
    amount=parquet.UINT256,
)
# Events in the form of a swap. The amounts alone show which of the pool's tokens went in.
SWAP_EVENTS = parquet.kind(
    block_number=parquet.BLOCK_NUMBER,
    log_index=parquet.INDEX,
    transaction_index=parquet.INDEX,
    pool_address=parquet.BYTES,
    maker=parquet.ADDRESS,
    family=parquet.TEXT,
    is_token0_in=parquet.BOOLEAN,
    amount_in=parquet.UINT256,
    amount_out=parquet.UINT256,
)
_SIGHTS = {"block_number": parquet.BLOCK_NUMBER, "address": parquet.ADDRESS}
# Blocks in which an address may have code, or was created, one row for each. `is_first`: the first
# row of the address in the file.
CODE_SIGHTS = parquet.kind(**_SIGHTS, is_created=parquet.BOOLEAN, is_first=parquet.BOOLEAN)
# Blocks in which a contract emitted an event of CHANGES.
CHANGE_SIGHTS = parquet.kind(**_SIGHTS)
# Blocks in which a call of a contract may have changed what it answers without an event.
CALL_SIGHTS = parquet.kind(**_SIGHTS)
# Pools that their manager began, as PoolEvent has them.
POOL_EVENTS = parquet.kind(
    block_number=parquet.BLOCK_NUMBER,
    address=parquet.BYTES,
    token0=parquet.ADDRESS,
    token1=parquet.ADDRESS,
)
# The first event of a kind that a contract emitted in the file, and of wraps, faces and swaps the
# first of each block: `sight` is transfer, form (the first Transfer of each form), wrap, face or
# swap, `form` a TransferShape or the family of a swap.
EVENT_SIGHTS = parquet.kind(
    block_number=parquet.BLOCK_NUMBER,
    log_index=parquet.INDEX,
    address=parquet.ADDRESS,
    sight=parquet.TEXT,
    form=parquet.TEXT,
    claim=parquet.optional(parquet.TEXT),
)
SPOOLED: Mapping[str, Mapping[str, parquet.ColumnFormat]] = LazyMapping(
    lambda: {
        "transactions": parquet.KINDS["transactions"],
        "internal_transfers": parquet.KINDS["internal_transfers"],
        **{table: parquet.KINDS.get(table, {}) for table in UNNUMBERED},
        "logs": {column: parquet.KINDS["logs"][column] for column in block_rows.LOG_COLUMNS},
        "transfer_events": TRANSFER_EVENTS,
        "swap_events": SWAP_EVENTS,
        "code_sights": CODE_SIGHTS,
        "event_sights": EVENT_SIGHTS,
        "change_sights": CHANGE_SIGHTS,
        "call_sights": CALL_SIGHTS,
        "pool_events": POOL_EVENTS,
        "blocks": parquet.KINDS["blocks"],  # the last: where its file exists, so do the others
    }
)
# Placeholders for a pool's tokens: only the direction of the trade is needed.
_TOKEN0, _TOKEN1 = b"0", b"1"
MAX_ROWS = 50_000  # as Python objects, which take 20 times the memory of columns


class RangeTables:
    """The tables of consecutive blocks, which grow block by block."""

    def __init__(self, selection: LogSelection) -> None:
        self._selection = selection
        self._tables: dict[str, list[pyarrow.Table]] = {kind: [] for kind in SPOOLED}
        self._rows: dict[str, Rows] = {kind: [] for kind in SPOOLED}
        self._sighted: set[bytes] = set()  # addresses in code sights

    def add(self, blocks: Iterable[FetchedBlock]) -> None:
        """Add the rows of blocks. Raises OverflowError or pyarrow's errors for values outside of
        their columns."""
        for fetched in blocks:
            _add_block(self._rows, fetched, self._selection, self._sighted)
        if sum(map(len, self._rows.values())) >= MAX_ROWS:
            self._make_tables()

    def finish(self) -> dict[str, pyarrow.Table]:
        """Return the tables by kind, one for each kind in SPOOLED."""
        self._make_tables()
        tables = {
            kind: pyarrow.concat_tables([*self._tables[kind], rows_table(kind, [])])
            for kind in SPOOLED
        }
        tables["event_sights"] = _event_sights(tables)
        return tables

    def _make_tables(self) -> None:
        for kind, rows in self._rows.items():
            if rows:
                self._tables[kind].append(rows_table(kind, rows))
                rows.clear()


def rows_table(kind: str, rows: Rows) -> pyarrow.Table:
    """Return the table of a kind with these rows. Raises OverflowError or pyarrow's errors for
    values outside of their columns."""
    columns = SPOOLED[kind]
    values = zip(*rows, strict=True) if rows else ([] for _ in columns)
    return parquet.make_table(columns, dict(zip(columns, map(list, values), strict=True)))


def _add_block(
    rows: dict[str, Rows], fetched: FetchedBlock, selection: LogSelection, sighted: set[bytes]
) -> None:
    made = table_rows(fetched, selection)
    number = fetched.block.number
    for kind in ("transactions", "internal_transfers", "logs"):
        rows[kind] += getattr(made, kind)
    for kind, of_block in made.unnumbered.items():
        rows[kind] += of_block
    for event, claim in made.transfers:
        indexes = number, event.transaction_index, event.log_index
        parties = event.token, event.from_address, event.to_address
        claimed = claim and json.dumps([claim.party.hex(), *claim[1:]])
        rows["transfer_events"] += [
            (*indexes, batch_index, *parties, event.shape.value, claimed, *words)
            for batch_index, words in enumerate(event.words)
        ]
    for swap, maker in made.swaps:
        swapped = trade(swap, _TOKEN0, _TOKEN1)
        indexes = number, swap.log_index, swap.transaction_index
        amounts = swapped.token_in == _TOKEN0, swapped.amount_in, swapped.amount_out
        rows["swap_events"].append((*indexes, swap.pool, maker, swap.family, *amounts))
    rows["code_sights"] += [
        (number, address, address in made.created, address not in sighted)
        for address in made.possible_contracts
    ]
    sighted.update(made.possible_contracts)
    rows["change_sights"] += [(number, address) for address in sorted(made.changed)]
    rows["call_sights"] += [(number, address) for address in sorted(made.called)]
    rows["pool_events"] += [(number, *pool) for pool in made.pools]
    rows["blocks"].append(tuple([made.block.get(name) for name in SPOOLED["blocks"]]))


def _event_sights(tables: Mapping[str, pyarrow.Table]) -> pyarrow.Table:
    transfers, swaps = tables["transfer_events"], tables["swap_events"]
    codes = tables["code_sights"]
    anew = codes.filter(compute.and_not(codes["is_created"], codes["is_first"]))["address"]
    changed = tables["change_sights"]["address"]
    changing = pyarrow.chunked_array([*anew.chunks, *changed.chunks], parquet.ADDRESS)
    is_of_contract = swaps["family"].to_numpy() != "v4"
    sights = [
        transfer_sights(transfers, changing),
        transfer_sights(transfers, changing.slice(0, 0), "form"),
        _first_events(transfers, "token_address", "shape", _have(transfers, WRAPPING), "wrap"),
        _first_events(transfers, "token_address", "shape", _have(transfers, OF_FACES), "face"),
        _first_events(swaps, "pool_address", "family", is_of_contract, "swap"),
    ]
    return pyarrow.concat_tables(sights).combine_chunks()


def transfer_sights(
    transfers: pyarrow.Table, changing: pyarrow.ChunkedArray | None = None, sight: str = "transfer"
) -> pyarrow.Table:
    is_counted = ~_have(transfers, CLAIMS)
    return _first_events(transfers, "token_address", "shape", is_counted, sight, changing)


def _have(transfers: pyarrow.Table, shapes: Iterable[TransferShape]) -> Any:
    return numpy.isin(transfers["shape"].to_numpy(), [shape.value for shape in shapes])


def _first_events(
    events: pyarrow.Table,
    address: str,
    form: str,
    is_counted: Any,
    sight: str,
    changing: pyarrow.ChunkedArray | None = None,
) -> pyarrow.Table:
    """Return each address's first event of each block among those that `is_counted` selects, as
    event sights, of Transfers of each form; where the `changing` ones are given, the first one
    alone of all others. Events are in the chain's order."""
    counted = events.filter(pyarrow.array(is_counted))
    codes = counted[address].combine_chunks().dictionary_encode().indices.to_numpy()
    blocks = counted["block_number"].to_numpy() << 32
    forms = counted[form].combine_chunks().dictionary_encode().indices.to_numpy()
    if changing is not None:
        is_changing = compute.is_in(counted[address], value_set=changing).to_numpy()
        blocks = blocks * is_changing
        forms = forms if sight == "form" else forms * is_changing
    codes = codes * len(TransferShape) + blocks + forms * (sight in ("transfer", "form"))
    firsts = counted.take(pyarrow.array(numpy.sort(numpy.unique(codes, return_index=True)[1])))
    columns = {
        "block_number": firsts["block_number"],
        "log_index": firsts["log_index"],
        "address": firsts[address],
        "sight": [sight] * len(firsts),
        "form": firsts[form],
        "claim": firsts["claim"] if "claim" in firsts.column_names else [None] * len(firsts),
    }
    return pyarrow.table(columns, schema=parquet.schema(EVENT_SIGHTS))
