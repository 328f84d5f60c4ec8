"""Mutants of the lists' statements and of the derived tables: does a test notice every one?

`make mutants`, or `python -m tests.mutants [--only PATTERN] [--kinds condition,sign]`. One
condition, sign, join or branch at a time is taken out of a statement as it is loaded, or of a
function in the test databases, and the tests that have run that statement are run again, until
one fails. A chain is indexed anew only for what the indexer runs. Prints a line for each mutant
that survives, and exits with 1 when there is one; EQUIVALENT lists those that change no result.

`--python COUNT` tries so many mutants of scan/ instead, at random: see python_mutant_runs.py.
"""

import argparse
import json
import logging
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from _pytest.runner import runtestprotocol
from _pytest.scope import Scope

from scan.database import statements as loader
from scan.database.statements import Statement
from scan.http.response_cache import ResponseCache
from scan.settings import ROOT
from tests.support import indexing, python_mutant_runs
from tests.support.database import execute
from tests.support.mutant_targets import DERIVED_FILES, Change, Target, all_changes, calls
from tests.support.sql_mutants import Mutant

# Files whose tests run in this process, which is where a mutant lives.
TESTS = (
    *("tests/api/test_filters.py", "tests/api/test_cursors.py"),
    *("tests/api/test_lists.py", "tests/api/test_candles.py"),
    *(
        "tests/extensions/chain_statistics/test_daily_stats.py",
        "tests/extensions/items/test_items.py",
        "tests/extensions/history/test_history.py",
    ),
    *("tests/extensions/etherscan/test_lists.py", "tests/indexer/test_internal_transfers.py"),
    *("tests/indexer/test_stored_logs.py", "tests/api/test_search.py"),
    "tests/pages/test_verified_contracts.py",
    *("tests/api/test_partitions.py", "tests/extensions/etherscan/test_blockscout_actions.py"),
    *("tests/pages/test_accounts.py", "tests/api/test_logs.py"),
    *("tests/api/test_every_list.py", "tests/api/test_contract_creations.py"),
    *(
        "tests/extensions/user_operations/test_user_operations.py",
        "tests/extensions/authorizations/test_authorizations.py",
    ),
    *("tests/indexer/test_retention.py", "tests/api/test_empty.py"),
    "tests/extensions/audit/test_derived_truth.py",
    "tests/extensions/audit/test_ranges_of_blocks.py",
    "tests/extensions/audit/test_changed_rows.py",
)
# Of these, files that compare what is derived with its truth, and call functions themselves.
DERIVED_TRUTH = (
    "tests/extensions/audit/test_derived_truth.py",
    "tests/extensions/audit/test_ranges_of_blocks.py",
)
KINDS = ("condition", "case", "sign", "join", "distinct", "branch")
PATIENCE_S = 20.0  # an indexer whose mutant makes no progress is given up


class RecordedStatements(dict[str, Statement]):
    """The loaded statements; knows which were looked up since it was emptied."""

    def __init__(self, loaded: Mapping[str, Statement]) -> None:
        super().__init__(loaded)
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> Statement:
        self.used.add(name)
        return super().__getitem__(name)


class Runner:
    """A plugin of pytest: runs all tests once, then for each mutant those that it concerns."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._given = given
        self._statements = RecordedStatements(loader.load_statements())
        self._uses: dict[str, set[str]] = {}  # of each item by its id
        self._seconds: dict[str, float] = {}
        self._kills: Counter[str] = Counter()
        self._killers: Counter[tuple[str, str]] = Counter()  # by the target's name and the item
        self._fixtures: dict[Any, Any] = {}  # requests, by definitions
        self._indexed: set[Any] = set()  # definitions of fixtures that may index a chain

    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> None:
        self._fixtures[fixturedef] = request

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Modules have imported the loader by its name. Their fixtures last for the session: tests
        of several modules take turns, and some fixtures index a chain."""
        for item in session.items:
            for definition in chain.from_iterable(item._fixtureinfo.name2fixturedefs.values()):
                if definition._scope in (Scope.Module, Scope.Package):
                    definition._scope = Scope.Session
                    self._indexed.add(definition)
                elif definition.argname == "indexed":
                    self._indexed.add(definition)
        original = loader.load_statements
        for module in list(sys.modules.values()):
            if getattr(module, "load_statements", None) is original:
                module.load_statements = lambda *_: self._statements

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = self._sound(session.items)
        again = self._given.again and _survivors(self._given.again)
        changes = [
            change
            for change in all_changes(self._statements)
            if change.mutant.kind in self._given.kinds.split(",")
            and re.search(self._given.only, f"{change.target.place} {change.target.name}")
            and (again is None or _without_line(str(change)) in again)
        ]
        if self._given.shuffle is not None:
            random.Random(self._given.shuffle).shuffle(changes)
        logging.disable(logging.CRITICAL)
        indexing.PATIENCE_S = PATIENCE_S
        was_indexed = False
        for change in changes[:: self._given.every][self._given.part :: self._given.processes]:
            began = time.monotonic()
            if (reason := change.reason()) is not None:
                self._tell("equivalent", change, reason)
                continue
            concerned = self._concerned(change.target, items)
            is_indexed = self._is_of_indexer(change.target)
            outcome, detail = "survived", ""
            if is_indexed and change.target.is_function and not was_indexed:
                # What the function returns of the chain that is indexed already may show the fault.
                direct = [item for item in concerned if _expects(item)]
                outcome, detail = self._try(change, direct)
            if outcome == "survived":
                if was_indexed or is_indexed:
                    self._index_anew()
                was_indexed = is_indexed
                outcome, detail = self._try(change, concerned)
            self._tell(outcome, change, f"{detail} ({time.monotonic() - began:.1f} s)")
        session._setupstate.teardown_exact(None)
        return True

    def _sound(self, items: list[pytest.Item]) -> list[pytest.Item]:
        """Those that pass without a mutant; the slowest last."""
        sound = []
        for item, following in zip(items, [*items[1:], items[0]], strict=True):
            self._statements.used = set()
            began = time.monotonic()
            if _passes(item, following):
                sound.append(item)
            else:
                print(f"left out, since it fails without a mutant: {item.nodeid}")
            self._uses[item.nodeid] = self._statements.used
            self._seconds[item.nodeid] = time.monotonic() - began
        self._statements.used = set()
        return sound

    def _is_of_indexer(self, target: Target) -> bool:
        return any(name.startswith("indexer/") for name in self._users(target))

    def _users(self, target: Target) -> set[str]:
        """The statements that are changed when the target is."""
        if not target.is_function:
            return {target.name}
        return {name for name, s in self._statements.items() if calls(s.text, target.name)}

    def _concerned(self, target: Target, items: list[pytest.Item]) -> list[pytest.Item]:
        users = self._users(target)
        is_derived = self._is_of_indexer(target) or Path(target.place).name in DERIVED_FILES
        concerned = [
            item
            for item in items
            if users & self._uses[item.nodeid]
            or (is_derived and item.nodeid.startswith(DERIVED_TRUTH))
        ]
        return sorted(
            concerned,
            key=lambda item: (
                -self._killers[target.name, item.nodeid],
                -self._kills[item.nodeid],
                self._seconds[item.nodeid],
            ),
        )

    def _try(self, change: Change, concerned: list[pytest.Item]) -> tuple[str, str]:
        if not concerned:
            return "survived", "no test runs it"
        try:
            self._apply(change)
        except psycopg2.Error as error:
            return "invalid", str(error).splitlines()[0]
        try:
            for item, following in zip(concerned, [*concerned[1:], concerned[0]], strict=True):
                if not _passes(item, following):
                    self._kills[item.nodeid] += 1
                    self._killers[change.target.name, item.nodeid] += 1
                    return "killed", item.nodeid
            return "survived", f"{len(concerned)} tests passed"
        finally:
            self._apply(Change(change.target, Mutant("none", 0, 0, "")))

    def _apply(self, change: Change) -> None:
        """Raises psycopg2.Error for a text that PostgreSQL does not take."""
        target, text = change.target, change.mutant.apply(change.target.text)
        if target.is_function:
            for url in self._databases():
                execute(url, text)
            return
        statement = dict.__getitem__(self._statements, target.name)
        name = target.name if text == target.text else f"{target.name}@{change.mutant.start}"
        self._statements[target.name] = statement._replace(text=text, name=name)
        if text != target.text:
            try:
                _prepare(self._databases()[0], statement._replace(text=text))
            except psycopg2.Error:
                self._statements[target.name] = statement
                raise

    def _index_anew(self) -> None:
        """What was indexed for all tests goes; the next that wants it makes it again."""
        for definition in self._indexed & self._fixtures.keys():
            definition.finish(self._fixtures[definition])

    def _value(self, fixture: str) -> Any:
        """What a fixture of the session is."""
        [definition] = [d for d in self._fixtures if d.argname == fixture]
        return definition.cached_result[0]

    def _databases(self) -> list[str]:
        """The template first, and all that were made of it."""
        postgres = self._value("postgres")
        rows = execute(
            postgres.url("postgres"),
            "SELECT datname FROM pg_database WHERE datname ~ '^(template_scan|scan_)'"
            " ORDER BY datname DESC",
        )
        return [postgres.url(str(name)) for (name,) in rows]

    def _tell(self, outcome: str, change: Change, detail: str) -> None:
        with self._given.report.open("a") as file:
            line = {"outcome": outcome, "mutant": str(change), "detail": detail}
            file.write(json.dumps(line) + "\n")
        if outcome == "survived":
            print(f"survived: {change}   [{change.target.name}: {detail}]", flush=True)


def _survivors(report: Path) -> set[str]:
    """The mutants that no test noticed in an earlier run."""
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    return {_without_line(line["mutant"]) for line in lines if line["outcome"] == "survived"}


def _without_line(mutant: str) -> str:
    return re.sub(r":\d+:", ":", mutant, count=1)


def _expects(item: pytest.Item) -> bool:
    """Whether a test calls functions on a chain that is indexed before."""
    fixtures = getattr(item, "fixturenames", ())
    return item.nodeid.startswith(DERIVED_TRUTH) and (
        "copied" in fixtures or item.name.startswith("test_the_audit_expects")
    )


def _passes(item: pytest.Item, following: pytest.Item) -> bool:
    """Whether a test passes; fixtures that `following` has, too, stay."""
    reports = runtestprotocol(item, nextitem=following, log=False)
    return all(report.passed or report.skipped for report in reports)


def _prepare(url: str, statement: Statement) -> None:
    """Literals too are parameters here: whether the text can be planned at all."""
    numbers = {name: f"${number}" for number, name in enumerate(statement.types, start=1)}
    text = re.sub(r"%\((\w+)\)s", lambda match: numbers[match[1]], statement.text)
    types = f"({', '.join(statement.types.values())})" if statement.types else ""
    execute(url, f"PREPARE tried{types} AS {text}")


def run_part(given: argparse.Namespace) -> int:
    ResponseCache.find = lambda *_: None  # type: ignore[method-assign]  # a mutant's are its own
    named = [path for path in given.tests.split() if (ROOT / path.partition("::")[0]).exists()]
    files = [str(ROOT / path) for path in named]
    arguments = ["-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-m", "not long", "-s", *files]
    return int(pytest.main(arguments, plugins=[Runner(given)]))


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="targets whose file or name matches this")
    parser.add_argument("--kinds", default=",".join(KINDS), help="which changes; also: opposite")
    parser.add_argument("--every", type=int, default=1, help="only every nth, for a quick look")
    parser.add_argument("--shuffle", type=int, metavar="SEED", help="in random order, for a sample")
    parser.add_argument("--again", type=Path, help="only those that survived, by this report")
    parser.add_argument("--tests", default=" ".join(TESTS), help="files of tests, or single tests")
    parser.add_argument("--processes", type=int, default=2, help="how many to try at once")
    parser.add_argument("--python", type=int, metavar="COUNT", help="so many of scan/, at random")
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests a mutant of Python")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--report", type=Path, help="a line of JSON for each mutant")
    parser.set_defaults(report=Path(tempfile.gettempdir()) / "scan-mutants.jsonl")
    given = parser.parse_args()
    if given.part is not None:
        return run_part(given)
    if given.python is not None:
        given.tests = "tests" if given.tests == parser.get_default("tests") else given.tests
        return python_mutant_runs.run(given)
    given.report.write_text("")
    command = [sys.executable, "-m", "tests.mutants", *sys.argv[1:]]
    numbers = range(given.processes)
    parts = [subprocess.Popen([*command, "--part", str(number)]) for number in numbers]
    codes = [part.wait() for part in parts]
    lines = [json.loads(line) for line in given.report.read_text().splitlines()]
    counts = Counter(line["outcome"] for line in lines)
    print(f"{len(lines)} mutants: {dict(counts)}; {given.report}")
    return int(any(codes) or counts["survived"] > 0 or not lines)


if __name__ == "__main__":
    sys.exit(main())
