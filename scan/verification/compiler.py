"""Solidity compilers on disk, run on hostile input: few at once, small, and not for long.

Layout, solc-select's: `solc-0.8.26/solc-0.8.26` under one folder. Native builds and Node scripts
around npm's soljson.js answer the same two calls. What the limits are for was measured on both:
nested modifiers take 1.5 to 2.5 GB, the SMT checker of 0.6.12 never ends.
"""

import hashlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

import orjson

from scan.errors import InvalidParameter, Unavailable, VerificationFailed
from scan.settings import Settings
from scan.verification.compiler_releases import Release, dotted, release

COMPILE_TIMEOUT_S = 40.0
MEMORY_KIB = 1024 * 1024
OUTPUT_BYTES = 32 * 1024 * 1024
RUNNING = 2
WAITING = 2
NICENESS = 10

_DIGEST_FILE = "SHA256"

# Limits are inherited; -v (address space) suits native builds, while soljson reserves far more
# address space than it uses and dies under it, so there -d (data) is limited. The kernel, short of
# memory, is told to end a compiler before the database.
_LIMIT = """
ulimit -c 0; ulimit -f "$1"; ulimit -t "$2"; ulimit "$3" "$4"; shift 4
echo 1000 > /proc/self/oom_score_adj
exec "$@"
"""


class OutOfLimits(VerificationFailed):
    """The source needs more time or memory than it is given."""


class Compilers:
    """The compilers of one folder and the places in which they may run."""

    def __init__(self, settings: Settings) -> None:
        self.directory = settings.solc_dir or _solc_select_directory()
        self._path = settings.path
        self._running = threading.Semaphore(RUNNING)
        self._admitted = threading.BoundedSemaphore(RUNNING + WAITING)
        self._checked: dict[Path, tuple[int, int]] = {}

    @contextmanager
    def admitted(self) -> Iterator[None]:
        """Few requests may want a compiler at once, since each of them holds a server thread."""
        if not self._admitted.acquire(blocking=False):
            raise _busy()
        try:
            yield
        finally:
            self._admitted.release()

    @contextmanager
    def running(self, deadline: float) -> Iterator[None]:
        """One of the fewer places in which compilers run; Unavailable when none gets free."""
        if not self._running.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise _busy()
        try:
            yield
        finally:
            self._running.release()

    def installed(self) -> list[Release]:
        found = []
        for folder in self.directory.glob("solc-*"):
            with suppress(InvalidParameter):
                found.append(release(folder.name.removeprefix("solc-")))
        return sorted(each for each in found if self.find(each))

    def find(self, wanted: Release) -> Path | None:
        """The executable, if it is there; Unavailable if it is not the one that was placed."""
        name = f"solc-{dotted(wanted)}"
        executable = self.directory / name / name
        if not os.access(executable, os.X_OK) or not executable.is_file():
            return None
        self._check_digest(executable.parent)
        return executable

    def _check_digest(self, folder: Path) -> None:
        """A compiler that was downloaded must still have the digest noted then."""
        noted = folder / _DIGEST_FILE
        if not noted.is_file():
            return
        digest, name = noted.read_text().split()
        status = (folder / name).stat()
        seen = (status.st_mtime_ns, status.st_size)
        if self._checked.get(folder) == seen:
            return
        if sha256(folder / name) != digest:
            raise Unavailable(f"The compiler in {folder.name} is damaged; install it again.")
        self._checked[folder] = seen

    def compile(self, executable: Path, standard_input: object, timeout_s: float) -> dict[str, Any]:
        """The compiler's standard JSON output; OutOfLimits where it did not get there."""
        timeout_s = min(timeout_s, COMPILE_TIMEOUT_S)
        if timeout_s <= 0:
            raise OutOfLimits("The time for this verification is used up.")
        with (
            tempfile.TemporaryDirectory(prefix="scan-solc-") as folder,
            tempfile.TemporaryFile() as stdin,
            tempfile.TemporaryFile() as stdout,
        ):
            stdin.write(orjson.dumps(standard_input))
            stdin.seek(0)
            command = [*_limited(executable, timeout_s), *_arguments(executable, folder)]
            status = self._run(command, folder, stdin, stdout, timeout_s)
            return _output(status, stdout)

    def _run(
        self,
        command: Sequence[str],
        folder: str,
        stdin: IO[bytes],
        stdout: IO[bytes],
        timeout_s: float,
    ) -> int:
        process = subprocess.Popen(
            command,
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={"PATH": self._path, "HOME": folder, "LANG": "C.UTF-8"},
            start_new_session=True,
        )
        try:
            return process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise OutOfLimits(
                f"The compiler did not finish within {timeout_s:.0f} seconds."
            ) from None
        finally:
            end_session(process)


def end_session(process: "subprocess.Popen[Any]") -> None:
    """Ends a process started in a session of its own, with all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def note_digest(folder: Path, name: str) -> None:
    """Written as sha256sum writes it, so that an operator can check it with that."""
    (folder / _DIGEST_FILE).write_text(f"{sha256(folder / name)}  {name}\n")


def _solc_select_directory() -> Path:
    from solc_select.constants import ARTIFACTS_DIR  # reads the environment at import

    return Path(ARTIFACTS_DIR)


def _busy() -> Unavailable:
    return Unavailable("All compilers are busy; try again shortly.", retry_after_s=15)


def is_native(executable: Path) -> bool:
    with executable.open("rb") as content:
        return content.read(2) != b"#!"


def _limited(executable: Path, timeout_s: float) -> list[str]:
    """CPU time may be twice the wall clock's: Node collects garbage on other threads."""
    memory = "-v" if is_native(executable) else "-d"
    limits = [str(OUTPUT_BYTES // 512), str(int(timeout_s * 2) + 1), memory, str(MEMORY_KIB)]
    return ["/bin/sh", "-c", _LIMIT, "sh", *limits, *_isolation(), "nice", "-n", str(NICENESS)]


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


def _arguments(executable: Path, folder: str) -> list[str]:
    arguments = [str(executable), "--standard-json"]
    if not is_native(executable):
        return arguments
    wanted = release(executable.name.removeprefix("solc-"))
    if wanted >= (0, 6, 9):
        arguments += ["--base-path", folder]
    if wanted >= (0, 8, 22):
        arguments += ["--no-import-callback"]
    return arguments


def _output(status: int, stdout: IO[bytes]) -> dict[str, Any]:
    """bad_alloc arrives as a JSON error with exit status 0; other ends at a limit as a crash."""
    stdout.seek(0)
    text = stdout.read(OUTPUT_BYTES + 1)
    if status in (126, 127):
        raise Unavailable("The compiler cannot be started here.", retry_after_s=60)
    if len(text) >= OUTPUT_BYTES:
        raise OutOfLimits("The compiler's output is larger than 32 MB.")
    try:
        output = orjson.loads(text)
    except ValueError:
        output = None
    if status != 0 or not isinstance(output, dict):
        raise OutOfLimits("The compiler crashed on this source: it met a limit of memory or depth.")
    messages = [str(error.get("message")) for error in output.get("errors") or ()]
    if any("bad_alloc" in text or text.startswith("Unknown exception") for text in messages):
        raise OutOfLimits(f"The compiler needs more than {MEMORY_KIB // 1024} MB for this source.")
    return output
