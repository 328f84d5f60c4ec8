"""The resources of a machine that a backfill may use, and the memory and disks that it needs."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from scan.database.connection import Database
from scan.ethereum.client import Node
from scan.extensions.backfill.estimates import GB, Estimate, estimate, require_room
from scan.extensions.backfill.history import History
from scan.extensions.backfill.memory import (
    MemoryNeed,
    available_bytes,
    load_need,
    require_memory,
    spool_need,
)
from scan.extensions.backfill.plan import CannotBackfill, Plan
from scan.extensions.operations.monitoring import disk_forecast
from scan.rate_limits.client_address import is_loopback


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
        given = [file for file in certificates if file]
        if url.scheme == "tls" and len(given) < 3:
            raise CannotBackfill("--cluster tls://… needs --tls-ca-file, --tls-cert and --tls-key")
        if url.scheme == "tcp" and not is_loopback(url.hostname):
            raise CannotBackfill(
                f"--cluster {address}: whoever reaches this scheduler runs code here: use tls://"
            )
        return Cluster(address, files, *(given if url.scheme == "tls" else ("", "", "")))


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
        self, database: Database, node: Node, resources: Resources, history: History | None
    ) -> None:
        self._history = history
        self._database = database
        self._node = node
        self._resources = resources
        self._estimate: Estimate | None = None
        self._needs: list[MemoryNeed] = []

    def require_memory(self, stage: str, first: int, last: int, range_blocks: int) -> None:
        """Check the memory for the stages from `stage` on. Raises TooLittleMemory and NodeError."""
        resources = self._resources
        is_local = disk_forecast.folder(self._database) is not None
        index_bytes = resources.index_bytes if is_local else 0
        self._needs = [load_need(resources.memory_bytes, resources.tables_at_once, index_bytes)]
        if stage == "spool" and resources.cluster is None:
            transactions = self._estimated(first, last).busiest * min(
                range_blocks, last - first + 1
            )
            self._needs.insert(0, spool_need(resources.processes, transactions))
        require_memory(self._needs, available_bytes())

    def require_room(self, folder: Path, first: int, last: int) -> None:
        """Check the disks of the files and of the database. Raises TooLittleRoom and NodeError."""
        require_room(self._database, folder, self._estimated(first, last))

    def describe(self, plan: Plan) -> str:
        """Return a description of what the backfill will do, with the memory and disk it takes."""
        memory = ", ".join(
            f"{need.size / GB:.1f} GB {need.stage} ({need.breakdown})" for need in self._needs
        )
        free = available_bytes()
        memory = f"memory at most: {memory}" + (
            f"; {free / GB:.1f} GB is available" if free else ""
        )
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
