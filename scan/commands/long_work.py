"""Work that may take hours: how it shows its progress, and how it runs beside the indexer, as a
subcommand in a process of its own, with the lowest priority. It ends with the indexer, and the next
run continues.
"""

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import IO

from scan.commands.run import start
from scan.database.connection import Database
from scan.errors import ScanError
from scan.settings import Settings, child_environment

log = logging.getLogger(__name__)

CHECK_EVERY_S = 30.0
AGAIN_AFTER_S = 3600.0  # where it ended without having done all, as with a node that has pruned
POLL_S = 0.2
GRACE_S = 10.0  # for what it writes last
LOW_PRIORITY = 19
SHOW_EVERY_S = 5.0


def write_line(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


class Progress:
    """Progress on stderr: on a terminal a line that is overwritten, else a line every 5 s. `done`
    of the blocks were so before."""

    def __init__(self, total: int, what: str, done: int = 0) -> None:
        self._total = total
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
        print(
            f"\r{self._what} {done} of {self._total} blocks ({done / self._total:.0%}),"
            f" {left_s:.0f} s left",
            end="" if self._is_terminal else "\n",
            file=sys.stderr,
            flush=True,
        )

    def end(self) -> None:
        if self._is_terminal:
            print(file=sys.stderr)


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
        name = "scan-background"
        with closing(Database(settings.database_url, statement_timeout_ms=5000, name=name)) as db:
            try:
                if not is_needed(db):
                    continue
            except ScanError as error:
                log.debug("%s: %s", " ".join(arguments), error)
                continue
        log.info("running scan %s", " ".join(arguments))
        if run_to_end(settings, stop, *arguments):
            wait_s = AGAIN_AFTER_S


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
