"""A plugin of pytest that notes which functions each test calls: see python_mutant_runs.py."""

import json
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_notes = Path(os.environ["SCAN_MUTANTS_NOTES"])
_uses = Path(os.environ["SCAN_MUTANTS_USES"])
_failed: set[str] = set()
_of_fixtures: dict[Any, tuple[set[str], float]] = {}


def _noted() -> set[str]:
    """The functions that were called since the last time, in whatever process."""
    if not _notes.exists():
        return set()
    names = set(_notes.read_text().split("\n")) - {""}
    os.truncate(_notes, 0)
    return names


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Generator[None, object, object]:
    before, began = _noted(), time.monotonic()
    try:
        return (yield)
    finally:
        _of_fixtures[fixturedef] = (_noted() | before, time.monotonic() - began)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _failed.add(report.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Generator[None, object, object]:
    began = time.monotonic()
    _noted()
    result = yield
    names, seconds = _noted(), time.monotonic() - began
    for definitions in item._fixtureinfo.name2fixturedefs.values():
        if definitions[-1] in _of_fixtures:
            of_fixture, of_setup = _of_fixtures[definitions[-1]]
            names |= of_fixture
            seconds = max(seconds, of_setup)
    if item.nodeid in _failed:  # which says nothing of mutants
        return result
    with _uses.open("a") as file:
        line = {"test": item.nodeid, "seconds": seconds, "functions": sorted(names)}
        file.write(json.dumps(line) + "\n")
    return result
