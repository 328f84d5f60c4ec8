"""Runs a program on hostile input: bounded memory, time and output, no network, an empty folder.

What the limits are for was measured on native builds of solc and on npm's: nested modifiers take
1.5 to 2.5 GB, the SMT checker of 0.6.12 never ends.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple

from scan.verification.confined_process import CANNOT_CONFINE, KEEP_NETWORK

MEMORY_KIB = 1024 * 1024
OUTPUT_BYTES = 32 * 1024 * 1024
CHECK_EVERY_S = 1.0

NETWORK_IS_KEPT = (
    "compilers run on what strangers send, and keep the network here: this kernel or processor has"
    " no filter of system calls that we can set; see docs/verification.md"
)

# Without site-packages Python takes 15 ms to start; a compiler takes a second.
_CONFINED = (sys.executable, "-I", "-S", str(Path(__file__).with_name("confined_process.py")))


class TimedOut(Exception):
    """The program did not finish in time, and was ended."""


class Finished(NamedTuple):
    """`output` is cut one byte after OUTPUT_BYTES."""

    status: int
    output: bytes


class Program(NamedTuple):
    """An executable to run under limits; `path` is the PATH that it gets."""

    executable: Path
    path: str

    def is_native(self) -> bool:
        with self.executable.open("rb") as content:
            return content.read(2) != b"#!"

    def run(
        self,
        arguments: Sequence[str],
        folder: str,
        timeout_s: float,
        stdin: bytes = b"",
        check: Callable[[], None] = lambda: None,
    ) -> Finished:
        """Runs in `folder`, which should be empty; raises TimedOut, and what `check` does, which is
        called once a second."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output:
            given.write(stdin)
            given.seek(0)
            command = [*self._confined(timeout_s), str(self.executable), *arguments]
            status = self._run(command, folder, (given, output), timeout_s, check)
            output.seek(0)
            return Finished(status, output.read(OUTPUT_BYTES + 1))

    def _confined(self, timeout_s: float) -> list[str]:
        """CPU time may be twice the wall clock's: Node collects garbage on other threads.

        The address space suits native builds; soljson reserves far more than it uses and dies
        under that limit, so its data are limited.
        """
        limits = {
            "RLIMIT_CORE": 0,
            "RLIMIT_FSIZE": OUTPUT_BYTES,
            "RLIMIT_CPU": int(timeout_s * 2) + 1,
            "RLIMIT_AS" if self.is_native() else "RLIMIT_DATA": MEMORY_KIB * 1024,
        }
        named = [str(each) for limit in limits.items() for each in limit]
        keeps_network = [] if can_deny_network() else [KEEP_NETWORK]
        return [*_CONFINED, *keeps_network, *named, "--"]

    def _run(
        self,
        command: Sequence[str],
        folder: str,
        streams: tuple[IO[bytes], IO[bytes]],
        timeout_s: float,
        check: Callable[[], None],
    ) -> int:
        process = subprocess.Popen(
            command,
            stdin=streams[0],
            stdout=streams[1],
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={"PATH": self.path, "HOME": folder, "LANG": "C.UTF-8"},
            start_new_session=True,
        )
        try:
            return _wait(process, timeout_s, check)
        finally:
            end_session(process)


def _wait(process: "subprocess.Popen[Any]", timeout_s: float, check: Callable[[], None]) -> int:
    deadline = time.monotonic() + timeout_s
    while (left_s := deadline - time.monotonic()) > 0:
        check()
        with suppress(subprocess.TimeoutExpired):
            return process.wait(min(CHECK_EVERY_S, left_s))
    raise TimedOut


def end_session(process: "subprocess.Popen[Any]") -> None:
    """Ends a process started in a session of its own, with all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@cache
def can_deny_network() -> bool:
    """Whether this kernel and processor let programs run without a network.

    Only their refusal says no: a machine that is slow to answer must not open the network.
    """
    with suppress(subprocess.TimeoutExpired):
        return subprocess.run([*_CONFINED, "--", "true"], timeout=10).returncode != CANNOT_CONFINE
    return True
