"""Ranges of a backfill fetched by several machines into one shared folder.

The main run, which has the database, writes down in the folder what is to be fetched. A further
machine needs the folder and a node alone; what it does not finish, the main run fetches.
"""

import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import orjson

from scan.bulk.progress import PartLog
from scan.bulk.range_files import Range, RangeFiles, split
from scan.bulk.spool import spooling
from scan.ethereum.client import Node
from scan.hex import BadHex, data, to_hex
from scan.indexer.block_source import BlockSource
from scan.indexer.chain_identity import ChainIdentity, read_identity
from scan.indexer.log_selection import NO_LOGS, LogSelection
from scan.settings import Settings

FILE = "spool.json"
MAX_BYTES = 1_000_000


class NoSpool(Exception):
    """There is nothing to be fetched for this folder, or not by this program or node."""


class Part(NamedTuple):
    """One of so many equal shares of the ranges, from 1 on."""

    number: int
    shares: int

    def of(self, ranges: Sequence[Range]) -> Sequence[Range]:
        return ranges[self.number - 1 :: self.shares]


ALL = Part(1, 1)


class SpoolPlan(NamedTuple):
    """What is to be fetched, in values of JSON."""

    version: str  # of Scan: all machines must decode alike
    chain_id: int
    genesis_hash: str
    first_block: int
    last_block: int
    range_blocks: int
    traces: str
    logs: str
    topics: list[str]  # where logs are `standard`

    @property
    def ranges(self) -> list[Range]:
        return split(self.first_block, self.last_block, self.range_blocks)

    @property
    def selection(self) -> LogSelection:
        topics = frozenset(data(topic, 32) for topic in self.topics)
        return NO_LOGS._replace(stored=self.logs, topics=topics)


def new_plan(
    identity: ChainIdentity,
    first_block: int,
    last_block: int,
    range_blocks: int,
    traces: str,
    selection: LogSelection,
) -> SpoolPlan:
    return SpoolPlan(
        version("scan"),
        identity.chain_id,
        to_hex(identity.genesis_hash),
        first_block,
        last_block,
        range_blocks,
        traces,
        selection.stored,
        sorted(map(to_hex, selection.topics)),
    )


def write_plan(folder: Path, plan: SpoolPlan) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{FILE}.{os.getpid()}"
    temporary.write_bytes(orjson.dumps(plan._asdict()))
    temporary.replace(folder / FILE)


def read_plan(folder: Path) -> SpoolPlan:
    """Raises NoSpool."""
    try:
        with (folder / FILE).open("rb") as file:
            plan = _checked(SpoolPlan(**orjson.loads(file.read(MAX_BYTES))))
    except OSError:
        raise NoSpool(f"no bulk backfill fetches into {folder}: begin it first") from None
    except (ValueError, TypeError, BadHex):
        raise NoSpool(f"{folder / FILE} is malformed, or of another version of Scan") from None
    if plan.version != version("scan"):
        raise NoSpool(f"the backfill was begun by Scan {plan.version}: use the same version here")
    return plan


def _checked(plan: SpoolPlan) -> SpoolPlan:
    """Raises ValueError, TypeError and BadHex."""
    numbers = (plan.chain_id, plan.first_block, plan.last_block, plan.range_blocks)
    texts = (plan.version, plan.traces, plan.logs)
    if not all(type(number) is int for number in numbers):
        raise TypeError("not a number")
    if not all(type(text) is str for text in texts):
        raise TypeError("not a text")
    if plan.range_blocks < 1 or not 0 <= plan.first_block <= plan.last_block < 2**63:
        raise ValueError("not a range")
    data(plan.genesis_hash, 32)
    for topic in plan.topics:
        data(topic, 32)
    return plan


def in_order(ranges: Sequence[Range], part: Part, missing: Sequence[Range]) -> list[Range]:
    """The missing ones of a part along the chain, then those of others, the last one first: other
    machines come to them last."""
    own = set(part.of(ranges))
    others = [blocks for blocks in missing if blocks not in own]
    return [blocks for blocks in missing if blocks in own] + others[::-1]


def fetch_share(
    settings: Settings, folder: Path, part: Part, processes: int, stop: threading.Event
) -> int:
    """Write the files of a part that are not there; how many ranges were missing.

    Until `stop`, or the main run needs no more files. Raises NoSpool, NodeError and SpoolFailed.
    """
    plan, files = read_plan(folder), RangeFiles(folder)
    settings = replace(settings, traces=plan.traces)
    source = BlockSource(Node(settings.rpc_urls, ca_bundle=settings.ca_bundle))
    if read_identity(source) != (plan.chain_id, data(plan.genesis_hash, 32)):
        raise NoSpool("the node at RPC_URL serves another chain than the backfill reads")
    missing = [blocks for blocks in part.of(plan.ranges) if not files.has(blocks)]
    progress = PartLog("spool", "ranges", len(missing))

    def advance(ranges: int, transactions: int) -> None:
        progress.advance(ranges, transactions)
        if not is_current(folder, plan):
            stop.set()

    with spooling(settings, plan.selection, files, missing, processes, advance, stop):
        pass
    return len(missing)


def is_current(folder: Path, plan: SpoolPlan) -> bool:
    """Whether the main run still fetches these blocks."""
    try:
        return read_plan(folder) == plan
    except NoSpool:
        return False
