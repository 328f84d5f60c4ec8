"""Every case by Scan and by plain.py in turn, in rounds; medians, with processor time a request."""

import logging
import shutil
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench.cases import Case, Request, cases, read_facts
from bench.databases import Databases, connected
from bench.load import Measured, ask, by_wrk
from bench.options import Options
from bench.processes import Server, family, processor_seconds, server, server_process
from bench.recorder import RecordedRequest, Recorder
from scan.settings import ROOT

log = logging.getLogger(__name__)

WARM_UP = 16
# The limiter does all its work, headers included, but refuses nothing.
LIMITS = {"SCAN_RATE_LIMIT_ANONYMOUS": "900000000/second"}
PLAIN = ["gunicorn", f"--config={ROOT / 'bench' / 'plain_gunicorn.py'}"]
UNBOUND = {"GUNICORN_CMD_ARGS": "--worker-class=bench.unbound.UnboundWorker"}


class Round(NamedTuple):
    """One load: requests a second, and processor time of a request."""

    measured: Measured
    worker_us: float
    postgres_us: float


def measure(options: Options, databases: Databases) -> list[dict[str, Any]]:
    """Of each case: names of columns to medians, and Scan's requests per second of plain's."""
    url = databases.seeded(options.transactions, options.hot_share)
    files = options.folder / "cases"
    shutil.rmtree(files, ignore_errors=True)
    files.mkdir()
    with _started(options, url, files) as servers:
        serving = Serving(options, url, files, servers)
        return [serving.measure(case) for case in serving.cases]


@contextmanager
def _started(options: Options, url: str, files: Path) -> Iterator[dict[str, Server]]:
    """scan and plain, each bound to a processor and not, and a node for balances; each is one
    process on a loopback port."""
    with ExitStack() as stack:

        def start(name: str, command: list[str], **environment: str) -> Server:
            log_file = options.folder / f"{name}.log"
            environment["DATABASE_URL"] = url
            return stack.enter_context(server(command, log_file, environment))

        with connected(url) as cursor:
            cursor.execute("SELECT genesis_hash FROM chain")
            [genesis] = cursor.fetchone()  # of another chain the node would be refused
        node = ["bench.node", "--port=PORT", "--blocks=1"]
        node += [f"--genesis=0x{genesis.hex()}"]
        servers = {"node": start("node", node)}
        scan = ["scan", "serve"]
        plain = [*PLAIN, "bench.plain:app"]
        for ending, bound in (("", {}), (" unbound", UNBOUND)):
            environment = {"RPC_URL": servers["node"].url, **LIMITS, **bound}
            servers[f"scan{ending}"] = start(f"scan{ending}", scan, **environment)
            environment = {"BENCH_FILES": str(files), **bound}
            servers[f"plain{ending}"] = start(f"plain{ending}", plain, **environment)
        yield servers


class Serving:
    """One run over all cases that are wanted."""

    def __init__(self, options: Options, url: str, files: Path, servers: dict[str, Server]) -> None:
        self._options = options
        self._url = url
        self._files = files  # what plain is to run
        self._servers = servers
        self._recorder = Recorder(url, servers["node"].url)
        with connected(url) as cursor:
            self._postgres = server_process(cursor)
            every = [*cases(read_facts(cursor))]
        self.cases = [case for case in every if options.wants(f"requests {case.name} {case.place}")]

    def measure(self, case: Case) -> dict[str, Any]:
        requests = {"scan": case.requests}
        if case.has_plain:
            requests["plain"] = self._plain_requests(case)
            if not case.is_repeated:
                requests |= {f"{name} unbound": of_name for name, of_name in requests.items()}
        columns = {
            name: self._wrk(name, of_name, case.is_repeated) for name, of_name in requests.items()
        }
        rounds: dict[str, list[Round]] = {name: [] for name in columns}
        for number in range(self._options.rounds):
            for name in list(columns) if number % 2 else list(columns)[::-1]:
                rounds[name].append(self._round(columns[name], self._servers[name].pid))
        result = {
            "name": case.name,
            "place": case.place,
            "columns": {name: _medians(column) for name, column in rounds.items()},
            "of_plain": [
                scan.measured.per_s / max(plain.measured.per_s, 1)
                for scan, plain in zip(rounds["scan"], rounds.get("plain", []), strict=False)
            ],
        }
        rates = {name: round(column["per_s"]) for name, column in result["columns"].items()}
        log.info("%s, %s: %s", case.name, case.place, rates)
        return result

    def _wrk(
        self, server: str, requests: Sequence[Request], is_repeated: bool
    ) -> Callable[[], Measured]:
        """Loads, each of which goes on where the one before it ended, unless requests repeat."""
        url, first = self._servers[server].url, 0
        for number in range(WARM_UP):
            ask(url, requests[-1 - number % len(requests)])

        def load() -> Measured:
            nonlocal first
            number = None if is_repeated else first
            measured = by_wrk(url, requests, self._options.seconds, self._options.folder, number)
            first += measured.sent
            return measured

        return load

    def _round(self, load: Callable[[], Measured], worker: int) -> Round:
        before = _seconds(worker), _seconds(self._postgres)
        measured = load()
        after = _seconds(worker), _seconds(self._postgres)
        costs = (
            1e6 * (end - start) / measured.sent for start, end in zip(before, after, strict=True)
        )
        return Round(measured, *costs)

    def _plain_requests(self, case: Case) -> list[Request]:
        """Those for plain, which runs the same statements with the same values.

        Raises RuntimeError where it returns anything else than the service.
        """
        recorded = self._recorder.record(case.requests)
        name = f"statements{time.monotonic_ns()}"  # it remembers what it has read
        lines = "".join(f"{_plain_request(one)!r}\n" for one in recorded)
        (self._files / name).write_text(lines, encoding="utf-8")
        requests = [
            Request(request.method, f"/{name}/{number}", request.body)
            for number, request in enumerate(case.requests)
        ]
        body = ask(self._servers["plain"].url, requests[0])
        if body != recorded[0].body:
            raise RuntimeError(f"plain returns {body[:200]!r}, not {recorded[0].body[:200]!r}")
        return requests


def _plain_request(recorded: RecordedRequest) -> tuple[object, ...]:
    """A line of the plain server's file; the row's longest text is what PostgreSQL made."""
    texts = [value if isinstance(value, str) else "" for value in recorded.row]
    column = max(range(len(texts)), key=lambda at: len(texts[at]))
    head, _, tail = recorded.body.partition(texts[column].encode())
    return recorded.statement, recorded.params, head, column, tail


def _seconds(pid: int) -> float:
    return sum(map(processor_seconds, family(pid)))


def _medians(rounds: list[Round]) -> dict[str, float]:
    loads = [one.measured for one in rounds]
    return {
        "per_s": statistics.median(load.per_s for load in loads),
        "p50_ms": statistics.median(load.p50_ms for load in loads),
        "p99_ms": statistics.median(load.p99_ms for load in loads),
        "worker_us": statistics.median(one.worker_us for one in rounds),
        "postgres_us": statistics.median(one.postgres_us for one in rounds),
        "failed": sum(load.failed for load in loads),
    }
