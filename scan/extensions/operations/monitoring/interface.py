"""GET /metrics, beside the API and without a limit: counters of this process, and values of all
processes from the database. It is for Prometheus alone: deploy/nginx.conf does not forward it.

What stops a PostgreSQL server in the end, and how long the disk lasts, is read here for
`scan doctor`, too.
"""

import shutil
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from flask import Blueprint, Flask, Response
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from scan.database.connection import Database, data_folder
from scan.errors import ScanError
from scan.http.hooks import Interfaces
from scan.http.interfaces import Interface
from scan.http.prerequisites import Mark, marked
from scan.http.services import services
from scan.observability import metrics
from scan.settings import Settings
from scan.verification.restored_sources import compilations_left

MOST_FREEZE_AGES = 2  # autovacuum freezes at one


class DatabaseHealth(NamedTuple):
    """The row of queries/database_get_health."""

    transaction_id_age: int
    freeze_age: int
    is_archiving_failing: int
    wal_archive_age_s: float | None  # None where no WAL is archived
    inactive_slot_bytes: int


def read_health(database: Database) -> DatabaseHealth:
    row = database.row("queries/database_get_health")
    assert row is not None
    return DatabaseHealth(*row)


DAY_S = 86_400


class Disk(NamedTuple):
    free_bytes: int
    full_in_s: int | None  # at the growth of the chain's newest day; None if there was none


def forecast(database: Database) -> Disk | None:
    """Return the disk's forecast; None where the data folder is not known."""
    data = data_folder(database)
    if data is None:
        return None
    free_bytes = shutil.disk_usage(data).free
    row = database.row("queries/disk_get_usage")
    assert row is not None
    size_bytes, newest_days_share = row
    daily_bytes = size_bytes * (newest_days_share or 0)
    return Disk(free_bytes, int(free_bytes / daily_bytes * DAY_S) if daily_bytes else None)


blueprint = Blueprint("metrics", __name__)

GAUGES = tomllib.loads(Path(__file__).with_name("gauges.toml").read_text(encoding="utf-8"))


@blueprint.get("/metrics")
@marked(Mark.UNLIMITED)
def export() -> Response:
    state = CollectorRegistry(auto_describe=False)
    state.register(State(services().writes, services().settings.chain_name))
    if services().reads is not services().writes:
        state.register(Replica(services().reads, services().writes))
    text = generate_latest(state) + generate_latest(REGISTRY)  # in which it sets the chain
    return Response(text, content_type=CONTENT_TYPE_LATEST)


class State(Collector):
    """Values from the database, which every instance reports alike."""

    def __init__(self, database: Database, chain_name: str) -> None:
        self._database = database
        self._chain_name = chain_name

    def collect(self) -> Iterator[Metric]:
        try:
            chain = self._database.row("queries/chain_get_metrics") or ()
            deliveries = self._database.row("queries/deliveries_get_metrics") or ()
            compiled = compilations_left(self._database)
            chain_id = self._database.value("queries/chain_get_id")
            disk = forecast(self._database) or (None, None)
            health = read_health(self._database)
            keys = self._database.rows("queries/api_keys_get_metrics")
        except ScanError:
            yield GaugeMetricFamily("scan_database_up", "Whether the database responds.", 0)
            return
        yield GaugeMetricFamily("scan_database_up", "Whether the database responds.", 1)
        if chain_id is not None:
            metrics.CHAIN_INFO.labels(chain_id, self._chain_name).set(1)
        # Of keys that operators made: those of wallets are as many as strangers want.
        text = "Requests with an operator's key, written every half second."
        of_keys = CounterMetricFamily("scan_api_key_requests", text, labels=("id", "label"))
        for key_id, label, requests in keys:
            of_keys.add_metric((key_id, label), requests)
        yield of_keys
        values = (*chain, *deliveries, *compiled, *disk, *health)
        for (name, text), value in zip(GAUGES.items(), values, strict=True):
            yield GaugeMetricFamily(name, text, None if value is None else float(value))


class Replica(Collector):
    """The state of the replica that this instance reads, and its lag behind the primary."""

    def __init__(self, reads: Database, writes: Database) -> None:
        self._reads = reads
        self._writes = writes

    def collect(self) -> Iterator[GaugeMetricFamily]:
        up = "Whether the replica that this instance reads responds."
        try:
            _, block, *_ = self._reads.row("http/index_get_newest") or (0, None)
        except ScanError:
            yield GaugeMetricFamily("scan_replica_up", up, 0)
            return
        yield GaugeMetricFamily("scan_replica_up", up, 1)
        if block is not None:
            yield GaugeMetricFamily("scan_replica_head_block", "The replica's newest block.", block)
        try:
            newest = self._writes.row("http/index_get_newest") or (0, None)
        except ScanError:
            return
        behind = 0 if newest[1] is None else newest[1] - (-1 if block is None else block)
        text = "Number of blocks that the replica is behind the primary."
        yield GaugeMetricFamily("scan_replica_lag_blocks", text, max(behind, 0))


def register(app: Flask, _settings: Settings) -> Sequence[Interface]:
    app.register_blueprint(blueprint)
    return ()


HOOKS = Interfaces(register=register)
