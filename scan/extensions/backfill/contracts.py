"""The inspection of contracts in a backfill, in the chain's order, by the indexer's own inspector.

The inspector gets blocks that have only the sights in the files, which are enough to decide what
contracts are.
"""

import json
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from operator import add, itemgetter
from typing import Any

import pyarrow
from pyarrow import compute

from scan.ethereum.events import PoolEvent, SwapEvent, TransferShape, WrapClaim
from scan.ethereum.token_metadata import ItemClaim
from scan.extensions.backfill import block_columns, plan
from scan.extensions.backfill.range_files import RangeFiles
from scan.extensions.exports.parquet import ADDRESS, read_file
from scan.indexer import contract_inspection, contract_state
from scan.indexer.block_rows import BlockContracts, Claim, SwapLog, TransferLog

MAX_REMEMBERED = 1_000_000
_Sight = dict[str, Any]  # a row of a file of sights, by column


class RangeInspector:
    """Inspects one range after another, and remembers the contracts whose code is known."""

    def __init__(self, inspector: contract_inspection.ContractInspector, files: RangeFiles) -> None:
        self._inspector = inspector
        self._files = files
        self._with_code: set[bytes] = set()

    def inspect(self, blocks: plan.Range) -> contract_state.ContractFindings:
        """Return the findings about the contracts in a range that the ranges before it lack. Raises
        NodeError.

        First the code of every address is read at its first sight. Then it is read at the other
        sights of addresses that had none, since the first code counts, and of addresses that were
        created again. Most addresses are read only once. Of most tokens the sights have only the
        first Transfer, which may end their life: what comes after it is inspected last, with all
        Transfers of those whose life it ended, or whose type they make doubtful, or that were not
        read when they should be.
        """
        self._inspector.stored_to = blocks.first - 1
        table = self._read("code_sights", blocks)
        is_repeated = compute.and_(
            compute.invert(table["is_first"]), compute.invert(table["is_created"])
        )
        firsts = table.filter(compute.invert(is_repeated))
        contracts = [
            sight
            for sight in firsts.to_pylist()
            if sight["is_created"] or sight["address"] not in self._with_code
        ]
        changes = self._read("change_sights", blocks).to_pylist()
        pools = self._read("pool_events", blocks).to_pylist()
        created = [sight for sight in contracts if sight["is_created"]]
        sights = self._events(blocks, {sight["address"] for sight in (*changes, *created)})
        anew = (sight for sight in created if not sight["is_first"])
        changing = {sight["address"] for sight in (*changes, *anew)}
        events, after = _split(sights, changing)
        hashes = self._hashes(blocks)
        first_sights = [sight for sight in contracts if sight["is_first"]]
        first = self._inspector.inspect(_blocks(first_sights, [], [], [], hashes))
        addresses = {sight["address"] for sight in contracts}
        without_code = self._inspector.without_code(addresses)
        if len(self._with_code) > MAX_REMEMBERED:
            self._with_code.clear()
        self._with_code |= addresses - without_code
        repeated = table.filter(is_repeated)
        codeless = pyarrow.array(list(without_code), ADDRESS)
        repeated = repeated.filter(compute.is_in(repeated["address"], value_set=codeless))
        later = [sight for sight in contracts if not sight["is_first"]] + repeated.to_pylist()
        second = self._inspector.inspect(_blocks(later, events, changes, pools, hashes))
        tokens = self._read("event_sights", blocks)["address"].unique().to_pylist()
        again = self._inspector.doubtful(self._forms(blocks)) | self._inspector.unread_among(tokens)
        again.update(end.address for end in second.ends)
        after += self._transfers(blocks, again - changing)
        of_events = _blocks([], after, [], [], hashes)
        # Their code is of earlier blocks than what is known of it.
        third = self._inspector.inspect([b._replace(possible_contracts=()) for b in of_events])
        joined = contract_state.ContractFindings(*map(add, map(add, first, second), third))
        changed = sorted({*joined.changes, *self._changes_by_calls(blocks)})
        return joined._replace(transfers=[], trades=[], changes=changed)

    def _changes_by_calls(self, blocks: plan.Range) -> Iterator[contract_state.ContractChange]:
        table = self._read("call_sights", blocks)
        tokens = self._inspector.tokens_among(table["address"].unique().to_pylist())
        of_tokens = table.filter(
            compute.is_in(table["address"], value_set=pyarrow.array(tokens, ADDRESS))
        )
        columns = (of_tokens[name].to_pylist() for name in ("block_number", "address"))
        return self._inspector.changes_by_calls(zip(*columns, strict=True))

    def _events(self, blocks: plan.Range, changing: set[bytes]) -> list[_Sight]:
        """Return the sights of events of contracts that are not known as tokens or pools yet, or
        that may be others by now."""
        table = self._read("event_sights", blocks)
        events: list[_Sight] = []
        for sight in ("transfer", "wrap", "face", "swap"):
            of_sight = table.filter(compute.equal(table["sight"], sight))
            addresses = of_sight["address"].unique().to_pylist()
            unsettled = self._inspector.unsettled(sight, addresses) | changing.intersection(
                addresses
            )
            unsettled = pyarrow.array(unsettled, ADDRESS)
            open_sights = of_sight.filter(compute.is_in(of_sight["address"], value_set=unsettled))
            events += open_sights.to_pylist()
        return events

    def _forms(self, blocks: plan.Range) -> Iterable[tuple[bytes, str]]:
        """Return the forms that the Transfers of each contract have."""
        table = self._read("event_sights", blocks)
        of_forms = table.filter(compute.equal(table["sight"], "form"))
        return zip(of_forms["address"].to_pylist(), of_forms["form"].to_pylist(), strict=True)

    def _transfers(self, blocks: plan.Range, tokens: set[bytes]) -> list[_Sight]:
        """Return the sights of the first Transfer of each form of tokens in each block."""
        if not tokens:
            return []
        table = self._read("transfer_events", blocks)
        addresses = pyarrow.array(tokens, ADDRESS)
        of_tokens = table.filter(compute.is_in(table["token_address"], value_set=addresses))
        transfers: list[_Sight] = block_columns.transfer_sights(of_tokens).to_pylist()
        return transfers

    def _read(self, kind: str, blocks: plan.Range) -> pyarrow.Table:
        return read_file(self._files.path(kind, blocks), block_columns.SPOOLED[kind])

    def _hashes(self, blocks: plan.Range) -> dict[int, tuple[bytes, bytes]]:
        """Return the hash and the parent hash of each block."""
        table = self._read("blocks", blocks)
        numbers, *hashes = (table[name].to_pylist() for name in ("number", "hash", "parent_hash"))
        return dict(zip(numbers, zip(*hashes, strict=True), strict=True))


class Inspection:
    """The ranges that are not inspected yet, in the chain's order."""

    def __init__(
        self, files: RangeFiles, ranges: Sequence[plan.Range], inspected_to: int | None
    ) -> None:
        """`inspected_to` is the block up to which ranges are inspected, None if none is."""
        self.files = files
        newest = -1 if inspected_to is None else inspected_to
        self.remaining = deque(blocks for blocks in ranges if blocks.first > newest)
        done = [blocks for blocks in ranges if blocks.last <= newest]
        self._last_hash = files.ends(done[-1]).hash if done and files.has(done[-1]) else None

    def require_none(self, ranges: Sequence[plan.Range]) -> None:
        """Raise Forked where one of the ranges, whose files are deleted, was inspected."""
        for blocks in ranges:
            if not self.remaining or blocks.first < self.remaining[0].first:
                raise plan.Forked(f"block {blocks.last} was inspected already")

    def is_next_right(self) -> bool:
        """Return whether the next range is whole, and follows on the one before it."""
        blocks = self.remaining[0]
        is_whole = self.files.is_whole(blocks)
        return is_whole and self._last_hash in (None, self.files.ends(blocks).parent_hash)

    def note_inspected(self) -> None:
        self._last_hash = self.files.ends(self.remaining.popleft()).hash


def _split(events: Sequence[_Sight], changing: set[bytes]) -> tuple[list[_Sight], list[_Sight]]:
    """Return the sights of events up to the block of a token's first Transfer, and those after it.
    Of the `changing` ones, whose Transfers they have all, none is after it."""
    first_transfers = {
        event["address"]: event["block_number"]
        for event in events
        if event["sight"] == "transfer" and event["address"] not in changing
    }
    until: list[_Sight] = []
    after: list[_Sight] = []
    for event in events:
        number = event["block_number"]
        (until if number <= first_transfers.get(event["address"], number) else after).append(event)
    return until, after


def _blocks(
    codes: Iterable[_Sight],
    events: Iterable[_Sight],
    changes: Iterable[_Sight],
    pools: Iterable[_Sight],
    hashes: dict[int, tuple[bytes, bytes]],
) -> Sequence[BlockContracts]:
    """Return blocks that have nothing but these sights, in the chain's order."""
    by_block = []
    for sights in (codes, events, changes, pools):
        grouped: dict[int, list[_Sight]] = defaultdict(list)
        for sight in sights:
            grouped[sight["block_number"]].append(sight)
        by_block.append(grouped)
    return [
        _block(number, *hashes[number], *(sights[number] for sights in by_block))
        for number in sorted(set().union(*by_block))
    ]


def _block(
    number: int,
    block_hash: bytes,
    parent_hash: bytes,
    codes: Sequence[_Sight],
    events: Sequence[_Sight],
    changes: Sequence[_Sight],
    pools: Sequence[_Sight],
) -> BlockContracts:
    events = sorted(events, key=itemgetter("log_index"))
    return BlockContracts(
        number,
        block_hash,
        parent_hash,
        possible_contracts=tuple(dict.fromkeys(sight["address"] for sight in (*codes, *events))),
        created=frozenset(code["address"] for code in codes if code["is_created"]),
        changed=frozenset(change["address"] for change in changes),
        transfer_logs=[
            TransferLog(
                TransferShape(event["form"]),
                event["address"],
                event["log_index"],
                claim=_claim(event["claim"]),
            )
            for event in events
            if event["sight"] != "swap"
        ],
        swap_logs=[
            SwapLog(SwapEvent(event["form"], 0, event["log_index"], event["address"], 0, 0))
            for event in events
            if event["sight"] == "swap"
        ],
        pool_events=[PoolEvent(pool["address"], pool["token0"], pool["token1"]) for pool in pools],
    )


def _claim(text: str | None) -> Claim | None:
    if text is None:
        return None
    party, *claimed = json.loads(text)
    kind = ItemClaim if isinstance(claimed[1], bool) else WrapClaim
    return kind(bytes.fromhex(party), *claimed)
