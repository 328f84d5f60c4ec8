"""The memory that a backfill needs at most, stage by stage, and the memory that is available."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from scan.extensions.backfill.estimates import GB

PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")
# Measured: a process of Python with its packages; each transaction in a range of 75,000, as columns
# and as the records that are decoded at once; the process that inspects and derives, without the
# memory that DuckDB counts.
WORKER_BYTES, TRANSACTION_BYTES, MAIN_BYTES = 100_000_000, 1_500, 250_000_000
DUCKDB_EXCESS = 1.1  # DuckDB held at most 1.1 GB with a limit of 1 GB


class TooLittleMemory(Exception):
    """A stage needs more memory than is available; the message says which option to lower."""


class MemoryNeed(NamedTuple):
    """The memory that a stage needs."""

    stage: str
    size: int
    breakdown: str  # what takes the memory, and how much, in words
    options: str  # the options that lower it, in words


class MemoryGroup(NamedTuple):
    """Names of a control group's files, and of the droppable memory in its memory.stat."""

    limit: str
    used: str
    cached: Sequence[str]


# Version 2, and version 1.
_GROUPS = (
    MemoryGroup("memory.max", "memory.current", ("inactive_file", "active_file")),
    MemoryGroup(
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        ("total_inactive_file", "total_active_file"),
    ),
)


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
    """Raise TooLittleMemory where a stage needs more than `available` bytes, None if unknown."""
    for need in needs:
        if available is not None and need.size > available:
            raise TooLittleMemory(
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
            used -= sum(statistics[name] for name in names.cached if name in statistics)
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
