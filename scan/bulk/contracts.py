"""What contracts are, decided in the chain's order by the indexer's own inspection.

The files say where something is to be found out; everything else about a block is left out.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pyarrow
from pyarrow import compute

from scan.bulk.block_columns import CONTRACT_SIGHTS
from scan.bulk.columns import ADDRESS, read_file
from scan.bulk.range_files import Range, RangeFiles
from scan.ethereum.events import SwapEvent, TransferShape
from scan.indexer.block_rows import BlockRows, SwapLog, TransferLog
from scan.indexer.contract_inspection import ContractFindings, ContractInspector


class Sight(NamedTuple):
    """A row of CONTRACT_SIGHTS."""

    block_number: int
    block_hash: bytes
    address: bytes
    sight: str
    is_first: bool
    log_index: int | None
    form: str | None


def inspect_range(
    inspector: ContractInspector, files: RangeFiles, blocks: Range
) -> ContractFindings:
    """What the contracts in a range add to those of the ranges before it; raises NodeError.

    First every address at its first sight; then those that had no code there at the others, since
    the first code counts, and what was created anew. Of most addresses only the first is asked for.
    """
    table = read_file(files.path("contract_sights", blocks), CONTRACT_SIGHTS)
    is_repeated = compute.and_(
        compute.invert(table["is_first"]), compute.equal(table["sight"], "code")
    )
    sights = _sights(table.filter(compute.invert(is_repeated)))
    contracts = [sight for sight in sights if sight.sight in ("code", "created")]
    events = [sight for sight in sights if sight.log_index is not None]
    first = inspector.inspect(_blocks([sight for sight in contracts if sight.is_first]))
    without_code = inspector.without_code({sight.address for sight in contracts})
    repeated = table.filter(is_repeated)
    addresses = pyarrow.array(list(without_code), ADDRESS)
    repeated = repeated.filter(compute.is_in(repeated["address"], value_set=addresses))
    created = [sight for sight in contracts if not sight.is_first]
    second = inspector.inspect(_blocks([*created, *_sights(repeated), *events]))
    return second._replace(codes=first.codes + second.codes, transfers=[], trades=[], supplies=[])


def _sights(table: pyarrow.Table) -> list[Sight]:
    return list(map(Sight, *(column.to_pylist() for column in table.columns)))


def _blocks(sights: Iterable[Sight]) -> Sequence[BlockRows]:
    """Blocks of nothing but these sights, in the chain's order."""
    by_block: dict[tuple[int, bytes], list[Sight]] = defaultdict(list)
    for sight in sights:
        by_block[sight.block_number, sight.block_hash].append(sight)
    return [
        BlockRows(
            number=number,
            hash=block_hash,
            parent_hash=b"",
            columns={},
            transaction_count=0,
            transactions="",
            emitters="",
            possible_contracts=tuple(dict.fromkeys(s.address for s in block_sights)),
            created=frozenset(s.address for s in block_sights if s.sight == "created"),
            transfer_logs=_transfer_logs(block_sights),
            swap_logs=_swap_logs(block_sights),
            internal_transfers="",
            internal_transfer_count=0,
            is_traced=None,
            withdrawals="",
            logs="",
            first_topics=(),
            watched_logs=[],
        )
        for (number, block_hash), block_sights in sorted(by_block.items())
    ]


def _transfer_logs(sights: Sequence[Sight]) -> list[TransferLog]:
    """In the order of the logs, without what they moved."""
    logs = [
        TransferLog(TransferShape(s.form), s.address, s.log_index, (), False, False, "")
        for s in sights
        if s.sight in ("transfer", "wrap") and s.log_index is not None
    ]
    return sorted(logs, key=lambda log: log.log_index)


def _swap_logs(sights: Sequence[Sight]) -> list[SwapLog]:
    logs = [
        SwapLog(SwapEvent(str(s.form), 0, s.log_index, s.address, 0, 0), "")
        for s in sights
        if s.sight == "swap" and s.log_index is not None
    ]
    return sorted(logs, key=lambda log: log.event.log_index)
