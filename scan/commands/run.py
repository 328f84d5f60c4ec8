"""`scan run`: database, schema, indexer and API together, until Ctrl-C stops all of them."""

import ctypes
import errno
import fcntl
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from types import FrameType
from typing import TextIO
from urllib.error import URLError
from urllib.request import urlopen

from scan.database import migrations
from scan.database.embedded import EmbeddedPostgres, StartFailed, StillStarting
from scan.errors import SettingError
from scan.ethereum.client import Node, NodeError
from scan.indexer.block_source import BlockSource
from scan.settings import ROOT, Settings, child_environment

log = logging.getLogger(__name__)

GRACE_S = 20.0
PORT_WAIT_S = 5.0
CHECK_EVERY_S = 0.5
RESTART_PAUSE_S = 1.0
PR_SET_PDEATHSIG = 1


def run(settings: Settings) -> int:
    """Everything on one machine; returns the exit code."""
    stop = threading.Event()
    _stop_on_signals(stop)
    with _lock_file(settings) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            reason = "another `scan run` uses it; give this one a folder of its own"
            raise SettingError("SCAN_DATA_DIR", str(settings.data_dir), reason) from None
        _require_free_port(settings, stop)
        settings = _with_node(settings)
        postgres = EmbeddedPostgres(settings.data_dir) if not settings.database_url else None
        try:
            return _serve(settings, postgres, stop)
        finally:
            if postgres is not None:
                log.info("stopping PostgreSQL")
                (settings.data_dir / DATABASE_FILE).unlink(missing_ok=True)
                postgres.stop()


def _lock_file(settings: Settings) -> TextIO:
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        return (settings.data_dir / "lock").open("w")
    except OSError as error:
        reason = f"no folder to write to: {error.strerror}"
        raise SettingError("SCAN_DATA_DIR", str(settings.data_dir), reason) from None


def _stop_on_signals(stop: threading.Event) -> None:
    def handle(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, handle)
    signal.signal(signal.SIGINT, handle)


def _require_free_port(settings: Settings, stop: threading.Event) -> None:
    """After a kill -9 the children of the last run take a moment to let go of the port."""
    deadline = time.monotonic() + PORT_WAIT_S
    while (error := _bind_error(settings)) is not None:
        reason = error.strerror or str(error)
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise SettingError("HOST", settings.host, reason)
        if error.errno == errno.EACCES or time.monotonic() > deadline or stop.is_set():
            raise SettingError("PORT", str(settings.port), reason)
        stop.wait(0.2)


def _bind_error(settings: Settings) -> OSError | None:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            return error
    return None


def _with_node(settings: Settings) -> Settings:
    """The settings as they are, or those of the bundled demo chain."""
    if settings.rpc_urls:
        return settings
    from scan.commands import demo_node

    server = demo_node.start(ROOT / "demo" / "chain.jsonl.gz")
    log.info("no RPC_URL is set: following the bundled demo chain")
    return replace(settings, rpc_urls=(f"http://127.0.0.1:{server.server_port}",))


def _serve(settings: Settings, postgres: EmbeddedPostgres | None, stop: threading.Event) -> int:
    if postgres is not None:
        _start_database(postgres, stop)
        url = _database_of_chain(settings, postgres, stop)
        _publish(settings, url)
        settings = replace(
            settings, database_url=url, read_database_url=settings.read_database_url or url
        )
    if not stop.is_set():
        migrations.run(settings)
        children = [
            Child("indexer", [sys.executable, "-m", "scan", "index"], settings),
            Child("api", [sys.executable, "-m", "scan", "serve"], settings),
        ]
        try:
            _watch(settings, postgres, children, stop)
        finally:
            _stop_all(children)
    return 0


DATABASE_FILE = "database_url"


def _publish(settings: Settings, url: str) -> None:
    """For other commands with the same SCAN_DATA_DIR, while we run."""
    path = settings.data_dir / DATABASE_FILE
    path.touch(mode=0o600)
    path.write_text(url, encoding="utf-8")


def with_running_database(settings: Settings) -> Settings:
    """The settings as they are, or with the database of the `scan run` that is running."""
    path = settings.data_dir / DATABASE_FILE
    if settings.database_url or not path.exists():
        return settings
    url = path.read_text(encoding="utf-8")
    return replace(settings, database_url=url, read_database_url=url)


def _start_database(postgres: EmbeddedPostgres, stop: threading.Event) -> None:
    while not stop.is_set():
        try:
            return postgres.start()
        except StillStarting as error:
            log.info("waiting: %s", error)
            stop.wait(1.0)


def _database_of_chain(
    settings: Settings, postgres: EmbeddedPostgres, stop: threading.Event
) -> str:
    """One database for each chain, named by chain id and genesis; waits for a node never seen."""
    source = BlockSource(Node(settings.rpc_urls, ca_bundle=settings.ca_bundle))
    key = settings.rpc_urls[0]
    while not stop.is_set():
        try:
            genesis_hash = source.hash_at(0)
            if genesis_hash is None:
                raise NodeError("the node does not have its genesis block")
            name = f"scan_{source.chain_id()}_{genesis_hash[:4].hex()}"
            postgres.remember_chain(key, name)
            return postgres.database_url(name)
        except NodeError as error:
            known = postgres.chain_of(key)
            if known is not None:
                return postgres.database_url(known)
            log.warning("waiting for the node at RPC_URL: %s", error)
            stop.wait(2.0)
    return ""


class Child:
    """A process that is started again when it dies, and dies when we do."""

    def __init__(self, name: str, command: list[str], settings: Settings) -> None:
        self._name = name
        self._command = command
        self._environment = child_environment(settings)
        self._started_at = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    def keep_running(self) -> None:
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                return
            log.warning("the %s process ended with %s; starting it again", self._name, code)
            time.sleep(max(0.0, RESTART_PAUSE_S - (time.monotonic() - self._started_at)))
        self._started_at = time.monotonic()
        # A group of its own: Ctrl-C reaches ours, and we tell the children in order.
        self._process = subprocess.Popen(
            self._command,
            env=self._environment,
            cwd=ROOT,
            preexec_fn=_die_with_parent,
            process_group=0,
        )

    def terminate(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def wait(self, deadline: float) -> None:
        if self._process is None:
            return
        try:
            self._process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            log.warning("the %s process did not stop in time; killing it", self._name)
            self._process.kill()
            self._process.wait()


def _die_with_parent() -> None:
    """After a kill -9 of `scan run`, nothing of it may hold the port or write on."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _watch(
    settings: Settings,
    postgres: EmbeddedPostgres | None,
    children: list[Child],
    stop: threading.Event,
) -> None:
    parent = os.getppid()
    greeted = False
    while not stop.is_set():
        if postgres is not None and not postgres.is_running():
            _restart_database(postgres)
        for child in children:
            child.keep_running()
        if not greeted and _is_alive(settings):
            _greet(settings)
            greeted = True
        if settings.started_by_make and os.getppid() != parent:
            log.info("the make that started this is gone")
            return
        stop.wait(CHECK_EVERY_S)


def _restart_database(postgres: EmbeddedPostgres) -> None:
    log.warning("PostgreSQL is gone; starting it again")
    try:
        postgres.start()
    except StartFailed as error:
        log.warning("%s", error)


def _stop_all(children: list[Child]) -> None:
    deadline = time.monotonic() + GRACE_S
    for child in children:
        child.terminate()
    for child in children:
        child.wait(deadline)


def _is_alive(settings: Settings) -> bool:
    try:
        with urlopen(f"{settings.base_url}/healthz", timeout=2) as response:
            return bool(response.status == 200)
    except (URLError, OSError):
        return False


def _greet(settings: Settings) -> None:
    base = f"{settings.base_url}/api/v1"
    print(
        f"\nScan serves at {settings.base_url} (Ctrl-C stops it). Try:\n"
        f"  curl {base}/stats\n"
        f"  curl '{base}/transactions?limit=2'\n"
        f"  curl {base}/blocks\n"
        f"or open {settings.base_url} in a browser.",
        flush=True,
    )
