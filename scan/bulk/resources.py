"""What a backfill may use of a machine, and what it will need of its memory and disks."""

from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from scan.bulk.estimates import GB, Estimate, estimate, require_room
from scan.bulk.memory import (
    MemoryNeed,
    available_bytes,
    load_need,
    require_memory,
    spool_need,
)
from scan.bulk.plan import CannotBackfill, Plan
from scan.database.connection import Database
from scan.ethereum.client import Node
from scan.queries import disk_forecast
from scan.rate_limits.client_address import is_loopback
from scan.settings import Settings


class Cluster(NamedTuple):
    """The workers of other machines that fetch, and where they write."""

    address: str  # of the scheduler
    files: str  # a path or a URI, such as s3://bucket/folder
    ca: str
    certificate: str
    key: str

    @staticmethod
    def of(address: str, files: str, settings: Settings) -> "Cluster":
        """Return the cluster at an address; raises CannotBackfill where it is not to be trusted.

        Whoever reaches a scheduler runs code on it, on its workers and here.
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
        certificates = (settings.cluster_ca, settings.cluster_cert, settings.cluster_key)
        if url.scheme == "tls" and not all(certificates):
            raise CannotBackfill(
                "--cluster tls://… needs SCAN_CLUSTER_CA, SCAN_CLUSTER_CERT and SCAN_CLUSTER_KEY"
            )
        if url.scheme == "tcp" and not is_loopback(url.hostname):
            raise CannotBackfill(
                f"--cluster {address}: whoever reaches this scheduler runs code here: use tls://"
            )
        return Cluster(address, files, *(certificates if url.scheme == "tls" else ("", "", "")))


class Resources(NamedTuple):
    """Resources are the processes, threads and memory that a run may use."""

    processes: int  # that fetch
    memory_bytes: int  # of DuckDB; beyond it spills to the folder
    threads: int
    tables_at_once: int  # that are loaded
    index_bytes: int  # maintenance_work_mem of each, in PostgreSQL
    cluster: Cluster | None = None  # in place of processes of this machine


class Requirements:
    """The requirements of a backfill follow from its resources and a sample of the chain, which is
    taken once."""

    def __init__(self, database: Database, node: Node, resources: Resources) -> None:
        self._database = database
        self._node = node
        self._resources = resources
        self._estimate: Estimate | None = None
        self._needs: list[MemoryNeed] = []

    def require_memory(self, stage: str, first: int, last: int, range_blocks: int) -> None:
        """Check the memory of the stages from this one on. Raises TooLittleMemory and NodeError."""
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
        """Describe what the backfill will do, and the memory and the disk that it takes."""
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
            self._estimate = estimate(self._node, first, last)
        return self._estimate
