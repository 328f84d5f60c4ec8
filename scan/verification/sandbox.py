"""Runs a program on hostile input: bounded memory, time and output, no network, an empty folder.

What the limits are for was measured on native builds of solc and on npm's: nested modifiers take
1.5 to 2.5 GB, the SMT checker of 0.6.12 never ends.
"""

import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple

MEMORY_KIB = 1024 * 1024
OUTPUT_BYTES = 32 * 1024 * 1024
NICENESS = 10

# Limits are inherited; -v (address space) suits native builds, while soljson reserves far more
# address space than it uses and dies under it, so there -d (data) is limited. Short of memory, the
# kernel ends the compiler before the database.
_LIMIT = """
ulimit -c 0; ulimit -f "$1"; ulimit -t "$2"; ulimit "$3" "$4"; shift 4
echo 1000 > /proc/self/oom_score_adj
exec "$@"
"""


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
        self, arguments: Sequence[str], folder: str, timeout_s: float, stdin: bytes = b""
    ) -> Finished:
        """Runs in `folder`, which should be empty; raises TimedOut."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output:
            given.write(stdin)
            given.seek(0)
            command = [*self._limits(timeout_s), str(self.executable), *arguments]
            status = self._run(command, folder, (given, output), timeout_s)
            output.seek(0)
            return Finished(status, output.read(OUTPUT_BYTES + 1))

    def _limits(self, timeout_s: float) -> list[str]:
        """CPU time may be twice the wall clock's: Node collects garbage on other threads."""
        memory = "-v" if self.is_native() else "-d"
        limits = [str(OUTPUT_BYTES // 512), str(int(timeout_s * 2) + 1), memory, str(MEMORY_KIB)]
        return ["/bin/sh", "-c", _LIMIT, "sh", *limits, *_isolation(), "nice", "-n", str(NICENESS)]

    def _run(
        self,
        command: Sequence[str],
        folder: str,
        streams: tuple[IO[bytes], IO[bytes]],
        timeout_s: float,
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
            return process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise TimedOut from None
        finally:
            end_session(process)


def end_session(process: "subprocess.Popen[Any]") -> None:
    """Ends a process started in a session of its own, with all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@cache
def _isolation() -> tuple[str, ...]:
    """What this kernel permits of: no network, and no life after the service's."""
    allowed: tuple[str, ...] = ()
    # Root keeps its rights over files with -n; anybody else needs a user namespace (-r) as well.
    for choices in ((("unshare", "-n"), ("unshare", "-rn")), (("setpriv", "--pdeathsig", "KILL"),)):
        works = (tool for tool in choices if _runs([*allowed, *tool, "true"]))
        allowed += next(works, ())
    return allowed


def _runs(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=5).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False
