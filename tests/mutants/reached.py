"""Which functions and statements each test reaches, in whatever process of Python: a plugin of
pytest, and what other processes start by (started/sitecustomize.py). Imports nothing of Scan."""

import json
import os
import sys
import threading
import time
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType
from typing import NamedTuple

import pytest

FOLDER = "SCAN_TEST_REACHED"  # the folder that processes write to
ROOT = Path(__file__).resolve().parent.parent.parent


class Recorder:
    """What was reached since clear(): functions of scan/ as `place:line`, and names of
    statements. Outside a process of pytest, it is written as soon as it is known, since the process
    may be killed."""

    def __init__(self):
        self.reached: set[str] = set()
        self.is_of_pytest = False
        self._prefix = f"{ROOT}/"
        # The code is kept, too, so that no other has its id.
        self._keys: dict[int, tuple[str, CodeType]] = {}
        self._file: int | None = None

    def start(self):
        os.register_at_fork(after_in_child=self.clear)
        threading.settrace(self._call)
        sys.settrace(self._call)

    def clear(self):
        self.reached, self._file = set(), None

    def _call(self, frame, event, argument):
        code = frame.f_code
        known = self._keys.get(id(code))
        if known is None:
            known = self._keys[id(code)] = (self._key(code), code)
        if key := known[0]:
            if key not in self.reached:
                self._add(key)
            if "statement" in code.co_varnames[: code.co_argcount]:
                statement = str(frame.f_locals["statement"])
                if statement not in self.reached:
                    self._add(statement)

    def _key(self, code):
        place = code.co_filename.removeprefix(self._prefix)
        is_of_scan = place.startswith(("scan/", "app.py")) and code.co_flags & CO_OPTIMIZED
        return f"{place}:{code.co_firstlineno}" if is_of_scan else ""

    def _add(self, key):
        self.reached.add(key)
        test = os.environ.get("PYTEST_CURRENT_TEST")
        if not self.is_of_pytest and test:
            if self._file is None:
                path = f"{os.environ[FOLDER]}/{os.getpid()}.started"
                self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(self._file, f"{test}\t{key}\n".encode())


recorder = Recorder()


def start():
    if FOLDER in os.environ:
        recorder.start()


# The plugin. What a fixture of several tests reaches counts for all tests of the file.


def pytest_configure():
    recorder.is_of_pytest = True
    threading.settrace(recorder._call)  # pytest may have started without
    sys.settrace(recorder._call)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    recorder.clear()
    began, has_failed = time.monotonic(), item.session.testsfailed
    result = yield
    if item.session.testsfailed == has_failed:
        _write("test", item.nodeid, time.monotonic() - began)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    if fixturedef.scope == "function":
        return (yield)
    before = recorder.reached
    recorder.clear()
    try:
        return (yield)
    finally:
        _write("fixture", request.node.nodeid.partition("::")[0])
        recorder.reached |= before


def _write(*event):
    with (Path(os.environ[FOLDER]) / f"{os.getpid()}.tests").open("a") as file:
        file.write(json.dumps([*event, [*recorder.reached]]) + "\n")


class Reached(NamedTuple):
    """`seconds` of the tests that passed; the tests, and the files of tests whose fixtures or other
    processes, by function or statement."""

    seconds: dict[str, float]
    by_tests: dict[str, set[str]]
    by_files: dict[str, set[str]]

    def add(self, test, keys):
        by, name = (self.by_tests, test) if "::" in test else (self.by_files, test)
        for key in keys:
            by.setdefault(key, set()).add(name)


def read(folder):
    """Read what processes have written. Fixtures of the whole session are of no file."""
    reached = Reached({}, {}, {})
    for path in folder.glob("*.tests"):
        for line in path.read_text().splitlines():
            kind, name, *seconds, keys = json.loads(line)
            if kind == "test":
                [reached.seconds[name]] = seconds
            if name:
                reached.add(name, keys)
    for path in folder.glob("*.started"):
        for line in path.read_text().splitlines():
            test, _, key = line.partition("\t")
            name, _, phase = test.rpartition(" ")
            reached.add(name, [key])
            if phase == "(setup)":
                reached.add(name.partition("::")[0], [key])
    return reached
