"""A plugin of pytest: tests run in forks of a process that has collected all of them.

The process that started it sends tasks through a socket. What a fork starts ends with it; the
function that a mutant changes is replaced in it, so that nothing is imported again.
"""

import ctypes
import functools
import gc
import inspect
import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import psutil
import pytest

from tests.mutants import kept
from tests.mutants.recorder import Recorder, is_among

DESCRIPTOR = "SCAN_TEST_MUTANTS_SOCKET"
AT_IMPORT = pytest.StashKey[Recorder]()
UNREACHED_S = (
    8.0  # of processor, after which the tests of a file that have not reached the mutant are left
)
SUBREAPER = 36  # of prctl(2)


class Task(NamedTuple):
    """Tests, by node ID and in their order, and the mutant, which the file on the disk has."""

    tests: Sequence[str]
    place: str = ""
    key: str = ""  # the function or statement, as Recorder has them
    original: str = ""
    text: str = ""
    kept: Sequence[str] = ()  # session fixtures whose value every fork has
    seconds: float = 600.0
    seconds_of_a_test: float = 120.0


class Result(NamedTuple):
    """`outcome` is passed, failed, timed out (a test was not done in time) or late (there was no
    time for all tests); `test` the one that ended the run."""

    outcome: str
    test: str
    text: str
    ran: dict[str, tuple[float, list[str]]]  # seconds of each test, and what it entered


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a module, and of all functions and classes in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def changed_code(file: str, original: str, text: str) -> dict[CodeType, CodeType]:
    """The code that the mutant changes: the function it is in, and all that is around that."""
    pairs = zip(*(codes(compile(t, file, "exec")) for t in (original, text)), strict=True)
    return {old: new for old, new in pairs if old != new}


def is_in_function(original: str, text: str) -> bool:
    """Whether nothing else differs than what functions do when they are called."""
    plain = [
        tuple(
            (code.co_code, code.co_names, [c for c in code.co_consts if type(c) is not CodeType])
            for code in codes(compile(t, "mutant", "exec"))
            if not code.co_flags & inspect.CO_OPTIMIZED
        )
        for t in (original, text)
    ]
    return repr(plain[0]) == repr(plain[1])


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    early_config.stash[AT_IMPORT] = Recorder(Path.cwd())
    if not early_config.known_args_namespace.file_or_dir:  # it takes as long again
        early_config.stash[AT_IMPORT].start()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    ctypes.CDLL(None).prctl(SUBREAPER, 1)
    kept.own_folder()
    connection = Connection(int(os.environ[DESCRIPTOR]))
    items = {item.nodeid: item for item in session.items}
    recorder = session.config.stash[AT_IMPORT]
    recorder.stop()
    connection.send(([*items], frozenset(recorder.entered)))
    with suppress(EOFError):
        while True:
            connection.send(_in_fork(connection.recv(), items))
    os._exit(0)


def _in_fork(task: Task, items: dict[str, pytest.Item]) -> Result:
    before = {process.pid for process in psutil.Process().children()}
    read, write = os.pipe()
    if (process := os.fork()) == 0:
        try:
            os.close(read)
            _Run(task, items, write).run()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(0)
    os.close(write)
    result = _followed(task, read)
    os.close(read)
    _end_processes(before)
    kept.clear(process)
    return result


def _followed(task: Task, read: int) -> Result:
    """What the fork reports, until it ends or a test takes too long."""
    ends_at, pending, test = time.monotonic() + task.seconds, b"", ""
    test_ends_at = ends_at
    ran: dict[str, tuple[float, list[str]]] = {}
    while True:
        left = min(ends_at, test_ends_at) - time.monotonic()
        if left < 0 or not select.select([read], [], [], left)[0]:
            return Result("late" if ends_at <= test_ends_at else "timed out", test, "", ran)
        if not (piece := os.read(read, 1 << 16)):
            return Result("failed" if test else "passed", test, "the process ended", ran)
        *lines, pending = (pending + piece).split(b"\n")
        for line in lines:
            kind, test, *more = json.loads(line)
            if kind == "begins":
                test_ends_at = time.monotonic() + task.seconds_of_a_test
            elif kind == "ran":
                ran[test], test, test_ends_at = (more[0], more[1]), "", ends_at
            else:
                return Result(kind, test, more[0], ran)


def _end_processes(before: set[int]) -> None:
    """Whatever the fork has started, orphans too, which are this process's children since."""
    while new := [p for p in psutil.Process().children() if p.pid not in before]:
        for process in new:
            with suppress(psutil.NoSuchProcess):
                for started in [process, *process.children(recursive=True)]:
                    started.kill()
        for process in new:
            with suppress(ChildProcessError, psutil.NoSuchProcess):
                os.waitpid(process.pid, 0)


class _Run:
    """One task, in the fork."""

    def __init__(self, task: Task, items: dict[str, pytest.Item], write: int) -> None:
        self._task, self._write = task, write
        self._items = [items[test] for test in task.tests if test in items]
        self._recorder = Recorder(Path.cwd())
        self._by_shared_fixtures: set[str] = set()
        self._is_elsewhere = False  # whether a process of Python was started, which may reach it

    def run(self) -> None:
        if not self._items:
            return
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        self._change()
        sys.addaudithook(self._audit)
        for plugin in (self, _KeptValues(kept.used(tuple(self._task.kept)))):
            self._items[0].config.pluginmanager.register(plugin)
        self._recorder.start()
        files = [[*items] for _, items in groupby(self._items, key=lambda item: item.path)]
        for items, following in zip(files, [*files[1:], None], strict=True):
            self._run_file(items, following[0] if following else None)

    def _run_file(self, items: list[pytest.Item], next_file: pytest.Item | None) -> None:
        began, key, reached = time.process_time(), self._task.key, False
        for item, following in zip(items, [*items[1:], next_file], strict=True):
            self._recorder.entered.clear()
            test_began = time.monotonic()
            self._report("begins", item.nodeid)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            entered = self._recorder.entered
            if item is items[0]:
                entered |= self._by_shared_fixtures
            self._report("ran", item.nodeid, time.monotonic() - test_began, sorted(entered))
            reached = reached or self._is_elsewhere or not key or is_among(key, entered)
            if not reached and time.process_time() - began > UNREACHED_S:
                item.session._setupstate.teardown_exact(next_file)
                return

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any]
    ) -> Generator[None, object, object]:
        """Other files of tests stand on what fixtures of the whole session do, too."""
        before = {*self._recorder.entered}
        self._recorder.entered.clear()
        try:
            return (yield)
        finally:
            if fixturedef.scope == "session":
                self._by_shared_fixtures |= self._recorder.entered
            self._recorder.entered |= before

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._report("failed", report.nodeid, report.longreprtext[-3000:])
            os._exit(0)

    def _report(self, *event: object) -> None:
        left = json.dumps(event).encode() + b"\n"
        while left:
            left = left[os.write(self._write, left) :]

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen" and str(arguments[0]) == sys.executable:
            self._is_elsewhere = True
            self._recorder.entered.add("elsewhere")

    def _change(self) -> None:
        if self._task.place.endswith(".py"):
            file = str(Path.cwd() / self._task.place)
            changes = changed_code(file, self._task.original, self._task.text)
            gc.unfreeze()
            for function in gc.get_objects():
                if type(function) is FunctionType and function.__code__.co_filename == file:
                    function.__code__ = changes.get(function.__code__, function.__code__)
            gc.freeze()
        elif self._task.place:
            from scan.database import migrations, statements

            for value in (*vars(statements).values(), *vars(migrations).values()):
                if isinstance(value, functools._lru_cache_wrapper):
                    value.cache_clear()


class _KeptValues:
    """The values of session fixtures that this fork does not make."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Any:
        value = self._values.get(fixturedef.argname)
        if value is not None:
            fixturedef.cached_result = (value, fixturedef.cache_key(request), None)
        return value
