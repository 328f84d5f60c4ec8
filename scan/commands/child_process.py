"""Subcommands in child processes, which `scan run` keeps running."""

import ctypes
import logging
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import IO

from scan.settings import ROOT

log = logging.getLogger(__name__)

RESTART_PAUSE_S = 1.0
GRACE_S = 20.0
PR_SET_PDEATHSIG = 1


class ChildProcess:
    """A child that runs `scan ARGUMENTS`. keep_running() starts it again when it has ended."""

    def __init__(self, name: str, environment: Mapping[str, str], *arguments: str) -> None:
        self._name = name
        self._environment = environment
        self._arguments = arguments
        self._started_at = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    def keep_running(self) -> None:
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                return
            log.warning("the %s process ended with %s; restarting it", self._name, code)
            time.sleep(max(0.0, RESTART_PAUSE_S - (time.monotonic() - self._started_at)))
        self._started_at = time.monotonic()
        self._process = start(self._environment, *self._arguments)

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


def stop_all(children: list[ChildProcess], grace_s: float = GRACE_S) -> None:
    deadline = time.monotonic() + grace_s
    for child in children:
        child.terminate()
    for child in children:
        child.wait(deadline)


def start(
    environment: Mapping[str, str],
    *arguments: str,
    stdin: int | None = None,
    stdout: IO[bytes] | None = None,
) -> "subprocess.Popen[bytes]":
    """Start `scan ARGUMENTS` in a process group of its own: Ctrl-C reaches only the parent, which
    stops its children in order."""
    return subprocess.Popen(
        [sys.executable, "-m", "scan", *arguments],
        env=environment,
        cwd=ROOT,
        stdin=stdin,
        stdout=stdout,
        preexec_fn=_end_with_parent,
        process_group=0,
    )


def _end_with_parent() -> None:
    """Have the kernel end this child with its parent, so that none keeps the port after a kill -9
    of `scan run`."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
