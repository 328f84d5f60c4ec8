"""One compiler, run on hostile input, standard JSON in and out; and how many run at once, how many
requests wait, how long each may run.

Native builds, Node scripts around npm's soljson.js, and Python scripts around Vyper's wheels take
the same two kinds of arguments.
"""

import errno
import json
import logging
import re
import shutil
import signal
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import orjson

from scan.concurrency.concurrency_limit import ConcurrencyLimit
from scan.errors import Unavailable, VerificationFailed
from scan.files import temporary_folder
from scan.verification import confined_process, sandbox, settings_search

log = logging.getLogger(__name__)

COMPILE_TIMEOUT_S = 40.0
DISK_FULL = "The disk of temporary files is full here; try again once it has space."
LEAST_FREE_BYTES = 1 << 20  # with less, what a compiler printed may have been cut
VERSION_TIMEOUT_S = 30.0
# A compiler makes 32 MB of ABI from a megabyte of source with nested structs, and parsing it holds
# the interpreter lock for 0.4 s. Parsing this many values takes 0.1 s.
MOST_OUTPUT_VALUES = 500_000
_UNPACKED = re.compile(rb"(?:/[\w.+-]+)*/_MEI\w+/")  # where the publisher's Vyper unpacks itself


class OutOfLimits(VerificationFailed):
    """The source needs more time or memory than a compilation may use."""


def compile_source(
    compiler: sandbox.Program,
    standard_input: object,
    timeout_s: float,
    check: Callable[[], None] = lambda: None,
    options: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the compiler's standard JSON output. Raises OutOfLimits, Unavailable.

    `options` come before the compiler's arguments. `check` is called while the compiler runs; an
    exception from it ends the compiler.
    """
    timeout_s = min(timeout_s, COMPILE_TIMEOUT_S)
    if timeout_s <= 0:
        raise OutOfLimits(NO_TIME_LEFT)
    try:
        with temporary_folder("scan-solc-") as folder:
            arguments = [*options, *_arguments(compiler, folder)]
            encoded_input = orjson.dumps(standard_input)
            try:
                finished = compiler.run(arguments, folder, timeout_s, encoded_input, check)
            except sandbox.TimedOut:
                if timeout_s < COMPILE_TIMEOUT_S:
                    raise OutOfLimits(NO_TIME_LEFT) from None
                message = f"The compiler did not finish within {timeout_s:.0f} seconds."
                raise OutOfLimits(message) from None
            except sandbox.TooManyProcesses:
                raise OutOfLimits("The compiler started too many processes.") from None
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise Unavailable(DISK_FULL) from None
        raise
    return _output(_without_folders(finished, compiler.executable.parent, folder))


def _without_folders(finished: sandbox.Finished, own_folder: Path, folder: str) -> sandbox.Finished:
    """Return the output with paths that begin in the folders of this machine that a compiler sees:
    its own, with its packages, that it runs in, and its Python's. Vyper names interfaces so."""
    output, resolved = finished.output, own_folder.resolve()
    seen = (resolved / "packages", resolved, own_folder, folder, Path(tempfile.__file__).parent)
    for text in map(str, seen):
        quoted = json.dumps(text)[1:-1].encode()
        output = output.replace(quoted + b"/", b"").replace(quoted, b"")
    return finished._replace(output=_UNPACKED.sub(b"", output))


def stated_version(compiler: sandbox.Program) -> str | None:
    """Return the version that `--version` prints, such as `0.8.26`, under the limits of a
    compilation; None where it prints none."""
    with temporary_folder("scan-solc-") as folder:
        try:
            finished = compiler.run(["--version"], folder, VERSION_TIMEOUT_S)
        except (sandbox.TimedOut, sandbox.TooManyProcesses):
            return None
    version = re.search(rb"(?:Version: |\A)([0-9.]{1,20})", finished.output[:1000])
    return version[1].decode() if version and finished.status == 0 else None


def _arguments(compiler: sandbox.Program, folder: str) -> list[str]:
    arguments = ["--standard-json"]
    name, _, release = compiler.executable.name.partition("-")
    if name != "solc" or not compiler.is_native():
        return arguments
    version = settings_search.parse_version(release)
    if version >= (0, 6, 9):
        arguments += ["--base-path", folder]
    if version >= (0, 8, 22):
        arguments += ["--no-import-callback"]
    return arguments


def _output(finished: sandbox.Finished) -> dict[str, Any]:
    """Return the compiler's output. Raises OutOfLimits: the compiler reports bad_alloc as a JSON
    error with exit status 0, and crashes at other limits."""
    if finished.status in (confined_process.CANNOT_CONFINE, 126, 127):
        log.error("the compiler ended with status %d: %r", finished.status, finished.output[:300])
        raise Unavailable("The compiler cannot be started.", retry_after_s=60)
    if len(finished.output) >= sandbox.OUTPUT_BYTES:
        raise OutOfLimits("The compiler's output is larger than 32 MB.")
    if sum(map(finished.output.count, (b",", b"[", b"{"))) > MOST_OUTPUT_VALUES:
        raise OutOfLimits(f"The compiler's output has more than {MOST_OUTPUT_VALUES:,} values.")
    if finished.status == -signal.SIGKILL:  # by the kernel, which kills compilers first
        raise Unavailable("The machine has too little memory for a compiler now.")
    try:
        output = orjson.loads(finished.output)
    except ValueError:
        output = None
    if finished.status != 0 or not isinstance(output, dict):
        if shutil.disk_usage(tempfile.gettempdir()).free < LEAST_FREE_BYTES:
            raise Unavailable(DISK_FULL)
        raise OutOfLimits("The compiler crashed: it exceeded a limit on memory or nesting.")
    messages = [str(error.get("message")) for error in output.get("errors") or ()]
    if any("bad_alloc" in text or text.startswith("Unknown exception") for text in messages):
        message = f"The compiler needs more than {sandbox.MEMORY_KIB // 1024} MB for this source."
        raise OutOfLimits(message)
    return output


RUNNING = 2
WAITING = 2
BUSY = "All compilers are busy; try again shortly."
CUT_SHORT = (
    "Other requests are waiting for a compiler, and this verification took too long; try again."
    " It is faster where the settings and the contract's name are given."
)
RETRY_AFTER_S = 15
# The time limits of a verification, alone and while others wait. Of 53 public contracts without
# settings, 44 matched within two compilations of 1 to 5 s.
BUDGET_S = 60.0
SHARED_BUDGET_S = 20.0
# For a place before, and for what else is read of a match: together less than a proxy's 120 s.
WAIT_S, FINDINGS_S = 30.0, 25.0
NO_TIME_LEFT = f"The compilations did not finish within {BUDGET_S:.0f} seconds."


def busy() -> Unavailable:
    return Unavailable(BUSY, retry_after_s=RETRY_AFTER_S)


class CompilerPlaces:
    """The places of verifications that run or wait. A waiting request holds a server thread, so
    only a few may wait, and one per client.

    The job runner sets `jobs_wait` while jobs in the database wait for a compiler.
    """

    def __init__(self) -> None:
        self._admitted = ConcurrencyLimit(
            RUNNING + WAITING, places_per_client=1, busy=BUSY, retry_after_s=RETRY_AFTER_S
        )
        self._changed = threading.Condition()
        self.taken = 0  # places of those that run
        self.waiting: deque[object] = deque()
        self.jobs_wait = False

    def admitted(self, client: str | None) -> AbstractContextManager[None]:
        """Hold the right to wait or to run. Raises Unavailable at once if too many hold it."""
        return self._admitted.place(client)

    @contextmanager
    def running(self, deadline: float, *, gives_way: bool = False) -> Iterator["RunningPlace"]:
        """Hold the right to run, first come, first served. Raises Unavailable if no place is free
        before `deadline`. The time limit of what runs begins then; what `gives_way` has none while
        others wait."""
        waiting = object()
        with self._changed:
            self.waiting.append(waiting)
            try:
                is_next = self._changed.wait_for(
                    lambda: self.taken < RUNNING and self.waiting[0] is waiting,
                    max(0.0, deadline - time.monotonic()),
                )
            finally:
                self.waiting.remove(waiting)
                self._changed.notify_all()
            if not is_next:
                raise busy()
            self.taken += 1
        try:
            yield RunningPlace(self, 0.0 if gives_way else SHARED_BUDGET_S)
        finally:
            with self._changed:
                self.taken -= 1
                self._changed.notify_all()

    def is_idle(self) -> bool:
        """Return whether nothing runs or waits."""
        return self.taken == 0 and not self.others_wait()

    def others_wait(self) -> bool:
        return self.jobs_wait or len(self.waiting) > 0


class RunningPlace:
    """The time limit of one verification, which is shorter while others wait."""

    def __init__(self, places: CompilerPlaces, shared_budget_s: float = SHARED_BUDGET_S) -> None:
        self._places = places
        self._shared_budget_s = shared_budget_s
        self.begin_anew()

    def begin_anew(self, budget_s: float = BUDGET_S) -> None:
        self._ends_at = time.monotonic() + budget_s

    def left_s(self) -> float:
        return self._ends_at - time.monotonic()

    def check(self) -> None:
        """Raise Unavailable if others wait and the shorter time limit has passed."""
        is_over = self.left_s() <= BUDGET_S - self._shared_budget_s
        if is_over and self._places.others_wait():
            raise Unavailable(CUT_SHORT, retry_after_s=RETRY_AFTER_S)
