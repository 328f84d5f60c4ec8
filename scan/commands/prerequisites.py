"""What a subcommand needs before it starts: settings, a database, its schema, signals."""

import logging
import signal
from collections.abc import Callable
from dataclasses import replace

from scan.database import migrations, start_checks
from scan.database.embedded import write_private
from scan.errors import ScanError, SettingError
from scan.settings import Settings

log = logging.getLogger(__name__)

DATABASE_FILE = "database_url"


def require_database(settings: Settings) -> None:
    if not settings.database_url:
        raise SettingError("DATABASE_URL", "", "required; only `scan run` starts its own database")


def require_node(settings: Settings) -> None:
    if not settings.rpc_urls:
        raise SettingError("RPC_URL", "", "required: the URL of a node")


def with_running_database(settings: Settings) -> Settings:
    """Without DATABASE_URL, the database of the `scan run` that uses the same SCAN_DATA_DIR."""
    path = settings.data_dir / DATABASE_FILE
    if not settings.database_url and path.exists():
        url = path.read_text(encoding="utf-8")
        settings = replace(settings, database_url=url, read_database_url=url)
    require_database(settings)
    return settings


def publish_database(settings: Settings) -> None:
    """For other commands with the same SCAN_DATA_DIR, while `scan run` runs."""
    write_private(settings.data_dir / DATABASE_FILE, settings.database_url)


def migrate_if_reachable(settings: Settings, *, reads: bool = False) -> None:
    """At every start; what starts waits for a database that is away, as it does later on.

    Raises SettingError for a database that cannot be used; see start_checks.require_usable().
    """
    start_checks.require_usable(settings, reads=reads)
    try:
        migrations.run(settings)
    except ScanError as error:
        log.warning("cannot check the database schema: %s", error.message)


def on_stop_signals(stop: Callable[[], None]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop())
