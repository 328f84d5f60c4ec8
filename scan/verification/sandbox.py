"""The sandbox of programs on hostile input: bounded memory, time, processes and output, no network.

The bounds are necessary: with native builds of solc and with npm's, nested modifiers took 1.5 to
2.5 GB, and the SMT checker of 0.6.12 did not end.
"""

import logging
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
from typing import Any, NamedTuple

from scan import processor_affinity
from scan.verification import confined_process

log = logging.getLogger(__name__)

MEMORY_KIB = 1024 * 1024
OUTPUT_BYTES = 32 * 1024 * 1024
MAX_TASKS = 256  # processes and their threads; Node has eleven
CHECK_EVERY_S = 1.0
COUNT_EVERY_S = 0.05

NETWORK_IS_KEPT = (
    "compilers process untrusted input and can use the network and leave processes behind: this"
    " kernel or processor does not support the system call filter that would prevent it; see"
    " docs/contracts.md"
)

# Without site-packages Python takes 15 ms to start; a compiler takes a second.
_CONFINED = (sys.executable, "-I", "-S", str(Path(__file__).with_name("confined_process.py")))


class TimedOut(Exception):
    """The program did not finish in time and was killed."""


class TooManyProcesses(Exception):
    """The program had more than MAX_TASKS processes and threads, and was killed."""


class Finished(NamedTuple):
    """The end of a program. `output` has at most one byte more than OUTPUT_BYTES."""

    status: int
    output: bytes


class Program(NamedTuple):
    """An executable to run under limits. `path` is its PATH."""

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
        """Run the program in `folder`, which should be empty, and call `check` once a second.
        Raises TimedOut, TooManyProcesses, and any exception of `check`."""
        with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as output:
            source.write(stdin)
            source.seek(0)
            # CPU time may be twice the wall-clock time: Node collects garbage in other threads.
            # Native builds run under a limit of the address space. soljson reserves far more than
            # it uses and would fail under that limit, so its data segment is limited.
            limits = {
                "RLIMIT_CORE": 0,
                "RLIMIT_FSIZE": OUTPUT_BYTES,
                "RLIMIT_CPU": int(timeout_s * 2) + 1,
                "RLIMIT_AS" if self.is_native() else "RLIMIT_DATA": MEMORY_KIB * 1024,
            }
            if not confined_process.can_hide_processes():
                confined_process.hide_this_process()
            keeps_network = [] if can_deny_network() else [confined_process.KEEP_NETWORK]
            command = ["--", str(self.executable), *arguments]
            process = start(
                [*_CONFINED, *keeps_network, *(f"{k}={v}" for k, v in limits.items()), *command],
                stdin=source,
                stdout=output,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env={"PATH": self.path, "HOME": folder, "LANG": "C.UTF-8"},
            )
            try:
                status = _wait(process, timeout_s, check)
            finally:
                end_session(process)
            output.seek(0)
            return Finished(status, output.read(OUTPUT_BYTES + 1))


def start(command: Sequence[str], **options: Any) -> "subprocess.Popen[Any]":
    """Start a process in a session of its own, which end_session() ends. It may use all processors,
    though the threads of a worker are bound to one."""
    processor_affinity.use_all()  # it inherits what this thread may use
    return subprocess.Popen(command, start_new_session=True, **options)


def _wait(process: "subprocess.Popen[Any]", timeout_s: float, check: Callable[[], None]) -> int:
    check()
    now = time.monotonic()
    deadline, check_at, before = now + timeout_s, now + CHECK_EVERY_S, _count_tasks()
    while (now := time.monotonic()) < deadline:
        is_due = now >= check_at
        if is_due:
            check()
            check_at = now + CHECK_EVERY_S
        # A fork bomb makes thousands in a second; counting a group reads a file for each process.
        if is_due or _count_tasks() > before + MAX_TASKS:
            if _count_tasks_of_group(process.pid) > MAX_TASKS:
                raise TooManyProcesses
            before = _count_tasks()
        with suppress(subprocess.TimeoutExpired):
            return process.wait(min(COUNT_EVERY_S, deadline - now))
    raise TimedOut


def _count_tasks() -> int:
    """Return how many threads all processes of the machine have, 0 where it does not tell."""
    try:
        return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
    except (OSError, ValueError, IndexError):
        return 0


def _count_tasks_of_group(group: int) -> int:
    """Return how many threads the processes of a process group have; see proc_pid_stat(5)."""
    count = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # the process has ended
            fields = file.read_text(errors="replace").rpartition(")")[2].split()
            count += int(fields[17]) if int(fields[2]) == group else 0
    return count


def end_session(process: "subprocess.Popen[Any]") -> None:
    """Kill a process that was started in its own session, and all processes of its group, which no
    confined process can leave."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@cache
def can_deny_network() -> bool:
    """Return whether this kernel and processor support the system call filter that denies the
    network; True on a time-out, as a slow machine must not give compilers the network."""
    with suppress(subprocess.TimeoutExpired):
        tried = subprocess.run([*_CONFINED, "--", "true"], stdout=subprocess.PIPE, timeout=10)
        if tried.returncode == confined_process.CANNOT_CONFINE:
            log.warning("%s (%s)", NETWORK_IS_KEPT, tried.stdout.decode().strip())
            return False
    return True
