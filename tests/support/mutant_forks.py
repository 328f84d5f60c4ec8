"""A plugin of pytest that tries mutants: each in a process forked from one that has collected the
tests, and has a PostgreSQL and the scenario. See python_mutant_runs.py."""

import gc
import json
import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from tests.support.database import execute

ANSWERS = int(os.environ["SCAN_MUTANTS_ANSWERS"])
SHARED = ("postgres", "template", "scenario")  # fixtures that no test changes
MOST_S = 60  # of a test, whose mutant is killed then
MADE = "SELECT datname FROM pg_database WHERE datname ~ '^scan_'"


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    gc.unfreeze()  # what conftest.py froze is looked through for functions
    items = {item.nodeid: item for item in session.items}
    first = next(item for item in session.items if hasattr(item, "fixturenames"))
    session._setupstate.setup(session)
    shared = {name: _value(first, name) for name in SHARED}
    postgres = shared["postgres"]
    for line in sys.stdin:
        before = execute(postgres.url("postgres"), MADE)
        os.write(ANSWERS, (json.dumps(_in_fork(json.loads(line), items)) + "\n").encode())
        for (name,) in set(execute(postgres.url("postgres"), MADE)) - set(before):
            execute(postgres.url("postgres"), f'DROP DATABASE "{name}" WITH (FORCE)')
    session._setupstate.teardown_exact(None)
    return True


def _value(item: Any, fixture: str) -> Any:
    """What a fixture of the session is; it is made for this test, and lasts for the session."""
    item._initrequest()
    return item._request.getfixturevalue(fixture)


def _in_fork(request: dict[str, Any], items: dict[str, pytest.Item]) -> str | None:
    """The test that fails, or None; what the process has started ends with it."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        os.setpgid(0, 0)
        os.write(write, json.dumps(_failing(request, items)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer, suppress(ProcessLookupError):
        is_done = select.select([answer], [], [], request["seconds"])[0]
        text = answer.read() if is_done else '"it hangs"'
        os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return json.loads(text) if text else "its process ended"


def _failing(request: dict[str, Any], items: dict[str, pytest.Item]) -> str | None:
    try:
        _mutate(request["file"], request["text"], request["function"])
    except ValueError:  # it has other free variables, so that its code cannot be put into place
        return "it has another form"
    chosen = [items[name] for name in request["tests"] if name in items]
    for item, following in zip(chosen, [*chosen[1:], chosen[0]], strict=True):
        signal.alarm(MOST_S)  # which ends the process
        reports = runtestprotocol(item, nextitem=following, log=False)
        if any(report.failed for report in reports):
            return item.nodeid
    return None


def _mutate(file: str, text: str, name: str) -> None:
    """Give all functions made of this definition the code that the text has for it."""
    [code] = [code for code in _codes(compile(text, file, "exec")) if code.co_qualname == name]
    for function in gc.get_objects():
        if isinstance(function, FunctionType):
            own = function.__code__
            if own.co_qualname == name and own.co_filename == file:
                function.__code__ = code


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
