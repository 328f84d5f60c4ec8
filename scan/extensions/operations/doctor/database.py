"""The checks of the database by `scan doctor`: server, indexes, clock, backup, disk, schema."""

import time
from collections.abc import Iterator
from typing import NamedTuple

from scan import registry
from scan.database import migrations
from scan.database.connection import Database
from scan.database.errors import SchemaMismatch
from scan.extensions.operations.monitoring.database_health import (
    MOST_FREEZE_AGES,
    DatabaseHealth,
    read_health,
)
from scan.extensions.operations.monitoring.disk_forecast import DAY_S, forecast
from scan.queries.reader import IndexState

GIB = 1024**3
LEAST_VERSION = 160_000
MOST_CLOCK_SKEW_S = 2.0
LEAST_FREE_CONNECTIONS = 20
DAYS_OF_DISK = 30
LEAST_FREE_BYTES = 2 * GIB
MOST_SLOT_BYTES = 8 * GIB
WAL_ARCHIVE_AGE_S = 86_400
MUST_BE_ON = ("fsync", "full_page_writes", "autovacuum")
READ_SETTINGS = ("max_connections",)


class Outcome(NamedTuple):
    """The outcome of a check, with the name of a Level, and advice where something is wrong."""

    subject: str
    level: str
    text: str
    advice: str = ""


def check_database(database: Database) -> Iterator[Outcome]:
    yield from _check_server(database)
    yield from _check_schema(database)
    yield from _check_proof(database)
    yield from _check_extensions(database)
    yield from _check_traces(database)


def _check_proof(database: Database) -> Iterator[Outcome]:
    for first, last, reason in database.rows("queries/unproven_blocks_list"):
        text = f"blocks {first} to {last} are not proven by their hashes: {reason}"
        yield _warning(
            text, "update Scan, or use a node that offers debug_getRawHeader and its like"
        )


def _check_extensions(database: Database) -> Iterator[Outcome]:
    for name, first in IndexState(database).incomplete.get().items():
        advice = "to have older rows, too, index anew into an empty database"
        yield _warning(f"{name} lacks rows before block {first}: it was off then", advice)


def _check_traces(database: Database) -> Iterator[Outcome]:
    blocks = database.value("commands/doctor_count_untraced")
    if blocks:
        anew = "index anew with a node that has their state"
        in_place = "run `scan backfill traces` with a node that has their state"
        advice = in_place if "backfill" in registry.commands() else anew
        text = f"{blocks:,} blocks have no traces: internal transfers and balances may be missing"
        yield _warning(text, advice)


def _check_server(database: Database) -> Iterator[Outcome]:
    row = database.row("commands/doctor_get_database", settings=[*MUST_BE_ON, *READ_SETTINGS])
    assert row is not None
    server = _Server(*row)
    if server.version < LEAST_VERSION:
        yield _error(f"PostgreSQL {server.version // 10_000}", "upgrade to 16 or newer")
    else:
        size = f"{server.size_bytes / GIB:.1f} GiB"
        yield _ok(f"PostgreSQL {server.version // 10_000}, {size}")
    for name in MUST_BE_ON:
        if server.settings[name] != "on":
            yield _error(
                f"{name} is off", f"set {name} = on: without it data or answers become wrong"
            )
    free = int(server.settings["max_connections"]) - server.connections
    if free < LEAST_FREE_CONNECTIONS:
        text = f"{free} of {server.settings['max_connections']} connections are free"
        yield _warning(text, "raise max_connections, or stop other clients")
    health = read_health(database)
    if health.transaction_id_age > MOST_FREEZE_AGES * health.freeze_age:
        text = f"transaction ids are {health.transaction_id_age:,} old"
        yield _error(text, "VACUUM (FREEZE) before ids wrap around; see what blocks it")
    if server.invalid_indexes:
        names = ", ".join(server.invalid_indexes[:5])
        yield _error(f"invalid indexes: {names}", "REINDEX INDEX CONCURRENTLY each")
    else:
        yield _ok("all indexes are valid")
    skew_s = server.time_s - time.time()
    if abs(skew_s) > MOST_CLOCK_SKEW_S:
        text = f"its clock is {abs(skew_s):.0f} s {'ahead' if skew_s > 0 else 'behind'}"
        yield _error(text, "synchronise the clocks of both machines (NTP)")
    yield from _check_backup(health)
    yield from _check_growth(database)


class _Server(NamedTuple):
    """The row of commands/doctor_get_database."""

    version: int
    settings: dict[str, str]
    size_bytes: int
    connections: int
    invalid_indexes: list[str]
    time_s: float


def _check_backup(health: DatabaseHealth) -> Iterator[Outcome]:
    if health.inactive_slot_bytes > MOST_SLOT_BYTES:
        text = (
            f"an inactive replication slot keeps {health.inactive_slot_bytes / GIB:.1f} GiB of WAL"
        )
        yield _error(text, "start its standby again, or drop the slot")
    if health.wal_archive_age_s is None:
        yield _warning("WAL is not archived", "see docs/operation.md")
    elif health.is_archiving_failing:
        yield _error("archiving WAL fails", "see PostgreSQL's log")
    elif health.wal_archive_age_s > WAL_ARCHIVE_AGE_S:
        yield _warning("no WAL was archived for a day", "check archive_command")
    else:
        yield _ok(f"WAL was archived {health.wal_archive_age_s / 60:.0f} minutes ago")


def _check_growth(database: Database) -> Iterator[Outcome]:
    disk = forecast(database)
    if disk is None:
        yield _warning(
            "its disk cannot be seen from here",
            "run `scan doctor` on its machine; there, GRANT pg_read_all_settings to Scan's role",
        )
        return
    text = f"{disk.free_bytes / GIB:.0f} GiB free"
    days = None if disk.full_in_s is None else disk.full_in_s // DAY_S
    if days is not None:
        text += f", full in {days:,} days at the newest day's growth"
    if disk.free_bytes < LEAST_FREE_BYTES or (days is not None and days < DAYS_OF_DISK):
        yield Outcome("disk", "error", text, "add space, or move the database")
    else:
        yield Outcome("disk", "ok", text)


def _check_schema(database: Database) -> Iterator[Outcome]:
    try:
        planned = migrations.plan(database)
    except SchemaMismatch as error:
        yield _error(error.message.removesuffix(migrations.WAY_OUT), migrations.WAY_OUT)
        return
    if planned is None:
        text = "the schema is of a newer version of Scan"
        yield _warning(text, "upgrade this installation")
    elif planned:
        text = f"the schema is not current: {', '.join(file.name for file in planned)}"
        yield _error(text, "run `scan migrate`, or start the new version")
    else:
        yield _ok("the schema is current")


def _ok(text: str) -> Outcome:
    return Outcome("database", "ok", text)


def _warning(text: str, advice: str) -> Outcome:
    return Outcome("database", "warning", text, advice)


def _error(text: str, advice: str) -> Outcome:
    return Outcome("database", "error", text, advice)
