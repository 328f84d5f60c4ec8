"""Processes kept running as systemd keeps units: each in a session of its own, started again."""

import os
import pwd
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

RESTART_AFTER_S = 1.0
STOP_TIMEOUT_S = 20.0
# Ends with whoever started it, however that ends.
WITH_PARENT = ("setpriv", "--pdeathsig", "TERM")
# PostgreSQL does not run as root. Whoever it runs as keeps root's way to an interpreter that lies
# in root's home: this is for trying the recipe, machines have a user `postgres`.
POSTGRES_USER = "pgserver"
AS_POSTGRES = (
    *("--reuid", POSTGRES_USER, "--regid", POSTGRES_USER, "--clear-groups"),
    *("--inh-caps", "+dac_override", "--ambient-caps", "+dac_override"),
)


class Process:
    """One command; its output is kept over restarts in `log`."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        environment: Mapping[str, str],
        *,
        as_postgres: bool = False,
    ) -> None:
        self.name = name
        self.is_held = False  # not started again
        self._log = log
        user = AS_POSTGRES if as_postgres and os.getuid() == 0 else ()
        self._command = [*WITH_PARENT, *user, *command]
        self._environment = {"PATH": os.environ.get("PATH", os.defpath), **environment}
        self._process: subprocess.Popen[bytes] | None = None
        self._ended_at = 0.0

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env=self._environment,
                start_new_session=True,
            )

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def keep_running(self) -> None:
        """Start it again a moment after it ended."""
        if self.is_running() or self.is_held or self._process is None:
            self._ended_at = 0.0
        elif not self._ended_at:
            self._ended_at = time.monotonic()
        elif time.monotonic() - self._ended_at > RESTART_AFTER_S:
            self.start()

    def signal(self, number: signal.Signals) -> None:
        """To it and to what it has started in its session."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def stop(self) -> None:
        """SIGTERM, and SIGKILL to what does not end by it."""
        self.is_held = True
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_TIMEOUT_S)
        self.signal(signal.SIGKILL)
        self._process.wait()


class Supervisor:
    """Starts again whatever ends."""

    def __init__(self) -> None:
        self.processes: dict[str, Process] = {}
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="supervisor", daemon=True)

    def __getitem__(self, name: str) -> Process:
        return self.processes[name]

    def add(self, process: Process) -> None:
        self.processes[process.name] = process
        process.start()
        if not self._thread.is_alive():
            self._thread.start()

    def stop(self) -> None:
        """In the reverse order, those of a kind at once."""
        self._is_stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        for process in self.processes.values():
            process.is_held = True
        kinds: dict[str, list[Process]] = {}
        for process in self.processes.values():
            kinds.setdefault(process.name.rstrip("0123456789"), []).append(process)
        for same in reversed(kinds.values()):
            threads = [threading.Thread(target=process.stop) for process in same]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    def _run(self) -> None:
        while not self._is_stopping.wait(0.2):
            for process in list(self.processes.values()):
                process.keep_running()


def make_postgres_folder(folder: Path) -> None:
    """A folder for data of PostgreSQL, which refuses one that others can enter."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.getuid() == 0:
        entry = pwd.getpwnam(POSTGRES_USER)
        os.chown(folder, entry.pw_uid, entry.pw_gid)
