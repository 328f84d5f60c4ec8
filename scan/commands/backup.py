"""`scan backup`: writes a chain's database of the embedded PostgreSQL to a file."""

import argparse
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scan.commands.run import DataDirInUse, locked_data_dir, start_database
from scan.commands.startup import with_running_database
from scan.database.embedded import EmbeddedPostgres, back_up
from scan.environment import without_password
from scan.errors import SettingError
from scan.settings import Settings

OUTSIDE = "must not be set: this is for the PostgreSQL of `scan run`; see docs/operation.md"


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=run)
    text = "an older file is replaced once the new one is whole"
    command.add_argument("file", type=Path, metavar="FILE", help=text)


def run(settings: Settings, options: argparse.Namespace) -> int:
    require_embedded(settings)
    if not (settings.data_dir / "postgres").is_dir():
        raise SettingError("SCAN_DATA_DIR", str(settings.data_dir), "there is no PostgreSQL in it")
    try:
        with started_alone(settings) as postgres:
            back_up(postgres, postgres.database_url(_chosen(settings, postgres)), options.file)
    except DataDirInUse:
        url = with_running_database(settings).database_url
        back_up(EmbeddedPostgres(settings.data_dir), url, options.file)
    print(f"wrote {options.file}")
    return 0


def require_embedded(settings: Settings) -> None:
    """Raise SettingError where the database is on another server."""
    if settings.database_url:
        raise SettingError("DATABASE_URL", without_password(settings.database_url), OUTSIDE)


@contextmanager
def started_alone(settings: Settings) -> Iterator[EmbeddedPostgres]:
    """Run the embedded PostgreSQL during the `with` block. Raises DataDirInUse while `scan run`
    has it."""
    with locked_data_dir(settings):
        postgres = EmbeddedPostgres(settings.data_dir)
        try:
            start_database(postgres, threading.Event())
            yield postgres
        finally:
            postgres.stop()


def _chosen(settings: Settings, postgres: EmbeddedPostgres) -> str:
    """Return the database of the chain at RPC_URL, or the only one. Raises SettingError."""
    names = postgres.databases()
    remembered = postgres.chain_of(settings.rpc_urls[0]) if settings.rpc_urls else None
    if remembered in names:
        return remembered
    if len(names) == 1:
        return names[0]
    reason = f"which chain of {settings.data_dir}? There are: {', '.join(names) or 'none'}"
    raise SettingError("RPC_URL", "", reason)
