"""Pages that are in no cache, of Scan and of rivals/plain.py in turn, in many rounds of a second.

    python -m bench.uncached [ROUNDS]

Prints requests per second, and processor time per request of the worker and of PostgreSQL: medians
of the rounds. What else the machine does disturbs both sides of a round, so that the quotients hold
where the values scatter. Where the processors are busy, requests per second follow the time of
worker and PostgreSQL together; where they are not, the worker's, which one interpreter lock bounds.
"""

import signal
import statistics
import sys
from typing import NamedTuple

from bench import servers
from bench.databases import Databases, connected
from bench.load import require_wrk
from bench.options import Options
from bench.processes import family, parent, processor_seconds
from bench.serving import Round, Serving, emptied

ROUNDS = 30
LISTS = ("blocks", "transactions")


class Cost(NamedTuple):
    per_s: float
    worker_us: float
    postgres_us: float


def main() -> int:
    require_wrk()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is stopped
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    options = Options.from_environment()
    options.folder.mkdir(parents=True, exist_ok=True)
    databases = Databases(options.folder)
    try:
        url = databases.seeded(options.transactions, options.hot_share)
        files = emptied(options.folder / "cases")
        with (
            connected(url) as cursor,
            servers.started(options, url, url, files, ("scan", "plain")) as started,
        ):
            cursor.execute("SELECT pg_backend_pid()")
            postgres = parent(cursor.fetchone()[0])
            pids = {server.name: server.pid for server in started}
            serving = Serving(options, url, url, files, started)
            for name in LISTS:
                columns = serving.beside_plain(name)
                _print(name, [_in_turn(columns, pids, postgres, n) for n in range(rounds)])
    finally:
        databases.stop()
    return 0


def _in_turn(
    columns: dict[str, Round], pids: dict[str, int], postgres: int, number: int
) -> dict[str, Cost]:
    names = list(columns) if number % 2 else list(columns)[::-1]
    return {name: _cost(columns[name], pids[name], postgres) for name in names}


def _cost(one_round: Round, worker: int, postgres: int) -> Cost:
    before = _seconds(worker), _seconds(postgres)
    measured = one_round()
    after = _seconds(worker), _seconds(postgres)
    worker_us, postgres_us = (
        1e6 * (end - start) / measured.sent for start, end in zip(before, after, strict=True)
    )
    return Cost(measured.per_s, worker_us, postgres_us)


def _seconds(pid: int) -> float:
    return sum(map(processor_seconds, family(pid)))


def _print(name: str, rounds: list[dict[str, Cost]]) -> None:
    print(f"{name}: requests/s, worker us, PostgreSQL us a request; {len(rounds)} rounds")
    for server in ("plain", "scan"):
        costs = zip(*(one[server] for one in rounds), strict=True)
        print(f"  {server:6}", *(f"{statistics.median(values):9.0f}" for values in costs))
    both = [(one["plain"], one["scan"]) for one in rounds]
    _print_ratio("requests/s", [scan.per_s / max(plain.per_s, 1) for plain, scan in both])
    _print_ratio("worker", [plain.worker_us / scan.worker_us for plain, scan in both])
    whole = [sum(plain[1:]) / sum(scan[1:]) for plain, scan in both]
    _print_ratio("worker and PostgreSQL", whole)


def _print_ratio(what: str, ratios: list[float]) -> None:
    lower, median, upper = statistics.quantiles(ratios, n=4)
    print(f"  of plain by {what}: {median:.2f}, quartiles {lower:.2f} to {upper:.2f}")


if __name__ == "__main__":
    sys.exit(main())
