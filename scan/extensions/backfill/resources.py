"""What a backfill needs and what the machine has: estimates of transactions and bytes from a sample
of the node's blocks, the most memory that each stage takes, and the memory, processors and disks
that it may use.
"""

import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import disk_usage
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from scan.database.connection import Database, data_folder
from scan.ethereum.client import Call, Node, NodeError
from scan.extensions.backfill.plan import CannotBackfill, Plan
from scan.setting_kinds import is_loopback

if TYPE_CHECKING:  # most runs read no files of history
    from scan.extensions.backfill.history_source import ChainFiles

SAMPLE_BLOCKS = 100
# Bytes for a transaction, estimated. Files: 90 bytes of hashes and addresses that do not compress,
# 450 of its block's body, and the rest for events and DuckDB's tables. Tables: rows and indexes,
# measured at 10 M transactions, and 470 of bodies.
FILE_BYTES = 750
TABLE_BYTES = 1_670
OBVIOUS = 0.8  # a disk with less than this share of the estimate is surely too small
GB = 10**9


class Estimate(NamedTuple):
    transactions: int
    file_bytes: int
    table_bytes: int
    busiest: float  # mean transactions of a block in the tenth of the chain that has the most


def estimate(node: Node, first: int, last: int, history: "ChainFiles | None" = None) -> Estimate:
    """Estimate rows and bytes by a sample of blocks. Raises NodeError."""
    numbers = sorted(random.sample(range(first, last + 1), min(SAMPLE_BLOCKS, last - first + 1)))
    elsewhere = [n for n in numbers if history is not None and n <= history.last_block]
    calls = [Call("eth_getBlockByNumber", (hex(n), False)) for n in numbers[len(elsewhere) :]]
    counts = [history.transactions_of(n) for n in elsewhere if history is not None]
    try:
        counts += [len(header["transactions"]) for header in node.results(calls)]
    except (TypeError, KeyError) as error:
        raise NodeError(f"the node's answer is malformed: {error!r}") from error
    transactions = fmean(counts) * (last - first + 1)
    tenth = -(-len(counts) // 10)
    return Estimate(
        int(transactions),
        int(transactions * FILE_BYTES),
        int(transactions * TABLE_BYTES),
        max(fmean(counts[start : start + tenth]) for start in range(0, len(counts), tenth)),
    )


def require_room(database: Database, folder: Path, needed: Estimate) -> None:
    """Raise CannotBackfill where files or tables obviously do not fit on their disks.

    The database's disk is not checked where it is on another machine, or the role may not see it.
    """
    needs: dict[int, tuple[Path, int]] = {}
    data = data_folder(database)
    for path, size in ((folder, needed.file_bytes), (data, needed.table_bytes)):
        if path is not None:
            while not path.exists():
                path = path.parent
            first, others = needs.get(path.stat().st_dev, (path, 0))
            needs[path.stat().st_dev] = first, others + size
    for path, size in needs.values():
        free = disk_usage(path).free
        if free < size * OBVIOUS:
            raise CannotBackfill(
                f"the disk of {path} has {free / GB:.1f} GB free; a bulk backfill needs about"
                f" {size / GB:.1f} GB there"
            )


PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")
# Measured: a process of Python with its packages; each transaction in a range of 75,000, as
# columns, whole, and as the records decoded at once; the process that inspects and derives, without
# the memory that DuckDB counts.
WORKER_BYTES, TRANSACTION_BYTES, MAIN_BYTES = 100_000_000, 2_800, 250_000_000
DUCKDB_EXCESS = 1.1  # DuckDB held at most 1.1 GB with a limit of 1 GB


class MemoryNeed(NamedTuple):
    """The memory that a stage needs."""

    stage: str
    size: int
    breakdown: str  # what takes the memory, and how much, in words
    options: str  # the options that lower it, in words


class MemoryGroup(NamedTuple):
    """Names of a control group's files, and what begins the names in its memory.stat."""

    limit: str
    used: str
    prefix: str


# Version 2, and version 1.
_GROUPS = (
    MemoryGroup("memory.max", "memory.current", ""),
    MemoryGroup("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
)
DROPPABLE = ("inactive_file", "active_file")  # memory of pages of files


def spool_need(processes: int, range_transactions: float) -> MemoryNeed:
    size = WORKER_BYTES + int(range_transactions * TRANSACTION_BYTES)
    breakdown = f"{processes} processes of {size / GB:.2f} GB that fetch"
    return MemoryNeed(
        "to fetch", processes * size + MAIN_BYTES, breakdown, "--workers or --range-blocks"
    )


def load_need(memory_bytes: int, tables_at_once: int, index_bytes: int) -> MemoryNeed:
    """Return the memory to derive and load. `index_bytes` is maintenance_work_mem, or 0 where
    PostgreSQL is on another machine."""
    breakdown = f"{memory_bytes / GB:.1f} GB of DuckDB"
    if index_bytes:
        breakdown += f", {tables_at_once} indexes made with {index_bytes / GB:.2f} GB each"
    size = int(memory_bytes * DUCKDB_EXCESS) + tables_at_once * index_bytes + MAIN_BYTES
    return MemoryNeed("to derive and load", size, breakdown, "--memory or --tables-at-once")


def require_memory(needs: Sequence[MemoryNeed], available: int | None) -> None:
    """Raise CannotBackfill where a stage needs more than `available` bytes, None if unknown."""
    for need in needs:
        if available is not None and need.size > available:
            raise CannotBackfill(
                f"{available / GB:.1f} GB of memory is available, and a bulk backfill needs about"
                f" {need.size / GB:.1f} GB {need.stage} ({need.breakdown}): lower {need.options}"
            )


def available_bytes(proc: Path = PROC, cgroups: Path = CGROUPS) -> int | None:
    """Return the memory that the machine and this process's control groups leave available; None
    where it is unknown. File pages that can be dropped count as available.
    """
    free = [_meminfo(proc, "MemAvailable")]
    for folder, names in _groups(proc, cgroups):
        with suppress(OSError, ValueError):
            statistics = _numbers(folder / "memory.stat")
            used = int((folder / names.used).read_text())
            used -= sum(statistics.get(names.prefix + name, 0) for name in DROPPABLE)
            free.append(max(int((folder / names.limit).read_text()) - used, 0))
    return min([size for size in free if size is not None], default=None)


def total_bytes(proc: Path = PROC, cgroups: Path = CGROUPS) -> int:
    """Return the memory of the machine or its smallest control group; 0 where neither is known."""
    sizes = [_meminfo(proc, "MemTotal")]
    for folder, names in _groups(proc, cgroups):
        with suppress(OSError, ValueError):
            sizes.append(int((folder / names.limit).read_text()))
    return min([size for size in sizes if size is not None], default=0)


def _groups(proc: Path, cgroups: Path) -> Iterator[tuple[Path, MemoryGroup]]:
    """Yield the control groups of this process, and the groups around them. In a container the path
    may be the host's, and the container's own group is where groups are mounted."""
    with suppress(OSError):
        for line in (proc / "self" / "cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers not in ("", "memory"):
                continue
            root = cgroups / controllers
            folder = root / path.lstrip("/")
            while True:
                for names in _GROUPS:
                    if (folder / names.limit).exists():
                        yield folder, names
                if folder == root or root not in folder.parents:
                    break
                folder = folder.parent


def _meminfo(proc: Path, name: str) -> int | None:
    """Return a value of /proc/meminfo in bytes; None where there is no such file or name."""
    kilobytes = _numbers(proc / "meminfo").get(f"{name}:")
    return None if kilobytes is None else kilobytes * 1024


def _numbers(path: Path) -> dict[str, int]:
    """Return the numbers of a file with lines of a name and a number; {} if it cannot be read."""
    with suppress(OSError, ValueError):
        lines = [line.split() for line in path.read_text().splitlines()]
        return {line[0]: int(line[1]) for line in lines if len(line) > 1}
    return {}


class Cluster(NamedTuple):
    """The workers of other machines that fetch blocks, and the place where they write files."""

    address: str  # of the scheduler
    files: str  # a path or a URI, such as s3://bucket/folder
    ca: str
    certificate: str
    key: str

    @staticmethod
    def of(address: str, files: str, certificates: Sequence[str | None]) -> "Cluster":
        """Return the cluster at an address. Raises CannotBackfill where the address is invalid, or
        not safe: whoever reaches a scheduler runs code on it, on its workers and here.
        """
        if not files:
            raise CannotBackfill("--cluster needs --files, which all machines share")
        try:
            url = urlsplit(address)
            is_address = url.port is not None and url.scheme in ("tls", "tcp")
        except ValueError:
            is_address = False
        if not is_address or not url.hostname:
            raise CannotBackfill(f"--cluster {address}: must be an address such as tls://host:8786")
        files_of_tls = [file for file in certificates if file]
        if url.scheme == "tls" and len(files_of_tls) < 3:
            raise CannotBackfill("--cluster tls://… needs --tls-ca-file, --tls-cert and --tls-key")
        if url.scheme == "tcp" and not is_loopback(url.hostname):
            raise CannotBackfill(
                f"--cluster {address}: whoever reaches this scheduler runs code here: use tls://"
            )
        return Cluster(address, files, *(files_of_tls if url.scheme == "tls" else ("", "", "")))


class Resources(NamedTuple):
    """The processes, threads and memory that a run may use."""

    processes: int  # that fetch blocks
    memory_bytes: int  # of DuckDB, which writes to the folder beyond that
    threads: int
    tables_at_once: int  # tables that are loaded at the same time
    index_bytes: int  # PostgreSQL's maintenance_work_mem for each of them
    cluster: Cluster | None = None  # in place of processes of this machine
    computes_senders: bool = True  # else they are the node's, which blocks say


class Requirements:
    """The memory and disks that a backfill needs, by its resources and one sample of the chain."""

    def __init__(
        self, database: Database, node: Node, resources: Resources, history: "ChainFiles | None"
    ) -> None:
        self._history = history
        self._database = database
        self._node = node
        self._resources = resources
        self._estimate: Estimate | None = None
        self._needs: list[MemoryNeed] = []

    def require_memory(self, stage: str, first: int, last: int, range_blocks: int) -> None:
        """Check the memory for the stages from `stage` on. Raises CannotBackfill and NodeError."""
        resources = self._resources
        is_local = data_folder(self._database) is not None
        index_bytes = resources.index_bytes if is_local else 0
        self._needs = [load_need(resources.memory_bytes, resources.tables_at_once, index_bytes)]
        if stage == "spool" and resources.cluster is None:
            blocks = min(range_blocks, last - first + 1)
            transactions = self._estimated(first, last).busiest * blocks
            self._needs.insert(0, spool_need(resources.processes, transactions))
        require_memory(self._needs, available_bytes())

    def require_room(self, folder: Path, first: int, last: int) -> None:
        """Check the disks of the files and of the database. Raises CannotBackfill and NodeError."""
        require_room(self._database, folder, self._estimated(first, last))

    def describe(self, plan: Plan) -> str:
        """Return a description of what the backfill will do, with the memory and disk it takes."""
        memory = ", ".join(
            f"{need.size / GB:.1f} GB {need.stage} ({need.breakdown})" for need in self._needs
        )
        memory = f"memory at most: {memory}"
        if free := available_bytes():
            memory += f"; {free / GB:.1f} GB is available"
        needed = self._estimate
        if plan.stage != "spool" or needed is None:
            return f"continuing at stage {plan.stage}, up to block {plan.last_block}; {memory}"
        return (
            f"blocks {plan.first_block} to {plan.last_block}, about {needed.transactions:,}"
            f" transactions (from a sample); about {needed.file_bytes / GB:.1f} GB of files in"
            f" {plan.folder} meanwhile, {needed.table_bytes / GB:.1f} GB in the database; {memory}"
        )

    def _estimated(self, first: int, last: int) -> Estimate:
        """Return the estimate, which is made once. Raises NodeError."""
        if self._estimate is None:
            self._estimate = estimate(self._node, first, last, self._history)
        return self._estimate
