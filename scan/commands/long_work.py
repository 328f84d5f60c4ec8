"""Work that may take hours: how a subcommand begins it, so that the next run continues, and shows
its progress, and how it runs beside the indexer, in a process of its own with the lowest priority,
which ends with the indexer.
"""

import ctypes
import gc
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import accumulate
from types import MappingProxyType
from typing import IO, NamedTuple

from scan.commands import startup
from scan.database.connection import Database
from scan.errors import ScanError
from scan.indexer.prefetch_process import OBJECTS_BETWEEN_COLLECTIONS
from scan.observability.logs import print_lines
from scan.settings import ROOT, Settings, child_environment

log = logging.getLogger(__name__)

DONE, NOT_DONE = 0, 1  # exit codes
CHECK_EVERY_S = 30.0
AGAIN_AFTER_S = 3600.0  # where it ended without having done all, as with a node that has pruned
POLL_S = 0.2
GRACE_S = 10.0  # for what it writes last
LOW_PRIORITY = 19
SHOW_EVERY_S = 5.0
PR_SET_PDEATHSIG = 1


def write_line(line: str) -> None:
    print_lines(line, file=sys.stderr)


def report(reason: str) -> None:
    """Write why work ends before all is done. The text may be a node's."""
    write_line(f"{reason}; the next run continues from here")


class LongWork(NamedTuple):
    """What work has that may take hours: the settings with its database, and the event that ends
    it."""

    settings: Settings
    database: Database
    stop: threading.Event


@contextmanager
def begun(
    settings: Settings,
    name: str,
    failures: tuple[type[Exception], ...] = (),
    *,
    session: Mapping[str, str] = MappingProxyType({}),
    needs_node: bool = True,
    ends_by_signals: bool = True,
    report: Callable[[str], None] = report,
) -> Iterator[LongWork]:
    """Begin long work on the database, whose sessions get a name. One of the `failures` is reported
    and ends the block. Raises the errors of startup.prepare_database()."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    settings = startup.settings_with_database(settings)
    if needs_node:
        startup.require_node(settings)
    startup.prepare_database(settings, may_be_away=False)
    stop = threading.Event()
    if ends_by_signals:
        startup.on_stop_signals(stop.set)
    url = settings.database_url
    with closing(Database(url, statement_timeout_ms=0, name=name, session=session)) as database:
        try:
            yield LongWork(settings, database, stop)
        except failures as error:
            report(error.for_operators if isinstance(error, ScanError) else str(error))


class Progress:
    """Progress on stderr: on a terminal a line that is overwritten, else a line every 5 s. `done`
    of the blocks, or of another unit, were so before."""

    def __init__(self, total: int, what: str, done: int = 0, unit: str = "blocks") -> None:
        self._total = total
        self._unit = unit
        self._what = what
        self._before = done
        self._is_terminal = sys.stderr.isatty()
        self._began = self._shown_at = time.monotonic()

    def show(self, done: int) -> None:
        now = time.monotonic()
        if not self._is_terminal and now - self._shown_at <= SHOW_EVERY_S:
            return
        self._shown_at = now
        left_s = (now - self._began) / max(done - self._before, 1) * (self._total - done)
        print(  # noqa: T201
            f"\r{self._what} {done} of {self._total} {self._unit} ({done / self._total:.0%}),"
            f" {left_s:.0f} s left",
            end="" if self._is_terminal else "\n",
            file=sys.stderr,
            flush=True,
        )

    def end(self) -> None:
        if self._is_terminal:
            write_line("")

    def follow(self, counts: Iterable[int]) -> None:
        """Do work that yields how many blocks each of its steps has done, and show it."""
        for done in accumulate(counts):
            self.show(done)
        self.end()


def lower_priority() -> None:
    """Give this process the lowest priority for processors."""
    with suppress(OSError):
        os.nice(LOW_PRIORITY)


def run_when_needed(
    settings: Settings,
    stop: threading.Event,
    is_needed: Callable[[Database], bool],
    *arguments: str,
) -> None:
    """Run `scan ARGUMENTS` whenever `is_needed` says so, until `stop` is set."""
    wait_s = CHECK_EVERY_S
    while not stop.wait(wait_s):
        wait_s = CHECK_EVERY_S
        command, name = " ".join(arguments), "scan-background"
        try:
            database = Database(settings.database_url, statement_timeout_ms=5000, name=name)
            with closing(database):
                if not is_needed(database):
                    continue
            log.info("running scan %s", command)
            if run_to_end(settings, stop, *arguments):
                wait_s = AGAIN_AFTER_S
        except (ScanError, OSError) as error:
            log.debug("%s: %s", command, error)


def run_to_end(
    settings: Settings,
    stop: threading.Event,
    *arguments: str,
    grace_s: float = GRACE_S,
    stdout: IO[bytes] | None = None,
) -> int:
    """Run a subcommand to its end, or until `stop` is set, and return its exit code."""
    environment = child_environment(settings)
    process = start(environment, *arguments, stdin=subprocess.DEVNULL, stdout=stdout)
    while process.poll() is None:
        if stop.wait(POLL_S):
            process.terminate()
            try:
                process.wait(grace_s)
            except subprocess.TimeoutExpired:
                process.kill()
    return process.wait()


def start(
    environment: Mapping[str, str],
    *arguments: str,
    stdin: int | None = None,
    stdout: IO[bytes] | None = None,
) -> "subprocess.Popen[bytes]":
    """Start `scan ARGUMENTS` in a process group of its own: Ctrl-C reaches only the parent, which
    stops its children in order. The kernel ends it with its parent, so that none keeps the port
    after a kill -9 of `scan run`."""
    # Looked up here: in the child a lock of the loader may be held for ever, by what was a thread.
    end_with_parent = partial(ctypes.CDLL(None).prctl, PR_SET_PDEATHSIG, signal.SIGTERM)
    return subprocess.Popen(
        [sys.executable, "-m", "scan", *arguments],
        env=environment,
        cwd=ROOT,
        stdin=stdin,
        stdout=stdout,
        preexec_fn=end_with_parent,
        process_group=0,
    )
