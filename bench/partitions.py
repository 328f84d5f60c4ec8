"""Every read of the long tables, on one table each and on 20 partitions of the same rows.

    python -m bench.partitions --transactions 600000 --partitions 20

Two databases of one seeded chain, which stay for the next run. For each request: processor time
over HTTP (a test client in this process with its PostgreSQL backend; nothing cached), processor
time of the backend for the request's statements alone (prepared as the service prepares them), and
pages touched. Rounds take turns between the two databases; the medians are shown. Bodies have to be
equal.
"""

import argparse
import itertools
import json
import logging
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from app import create_app
from bench.cases import HOT, HOT_TOKEN, USUAL, Request, address_of, respelled
from bench.databases import Databases, connected
from bench.seed import seed
from scan.database.connection import Database
from scan.database.migrations import expected_schema
from scan.http.services import SESSION, Services
from scan.settings import Settings

log = logging.getLogger(__name__)

TABLES = ("transactions", "token_transfers", "internal_transfers", "dex_trades", "logs")
NOBODY = "http://127.0.0.1:9"
LIMIT = 25
Statement = tuple[str, Mapping[str, object], bool]  # its name, its values, whether it is prepared


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transactions", type=int, default=600_000)
    parser.add_argument("--partitions", type=int, default=20)
    parser.add_argument("--folder", type=Path, default=Path("var/bench-partitions"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=10, help="of a request in a round")
    parser.add_argument("--only", type=re.compile, default=re.compile(""))
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    databases = Databases(options.folder)
    try:
        plain = databases.url(f"plain_{options.transactions}")
        split = databases.url(f"split_{options.transactions}_{options.partitions}")
        if not _is_filled(plain):
            seed(plain, options.transactions, internal_transfers=True, logs=True)
        if not _is_filled(split):
            partition(plain, split, options.partitions)
        _measure(options, Side(plain), Side(split))
    finally:
        databases.stop()


def partition(plain: str, split: str, partitions: int) -> None:
    """A copy whose long tables have so many partitions, each of the same number of ordinals."""
    database = Database(split, statement_timeout_ms=0)
    text = expected_schema().schema
    for table in TABLES:
        text, count = re.subn(
            rf"(CREATE TABLE IF NOT EXISTS {table} \(\n.*?\n\));",
            r"\1 PARTITION BY RANGE (ordinal);",
            text,
            flags=re.S,
        )
        assert count == 1, table
    database.execute_script(text)
    database.close()
    with connected(plain) as source, connected(split) as target:
        for table in TABLES:
            source.execute(f"SELECT max(ordinal) + 1 FROM {table}")  # noqa: S608
            [rows] = source.fetchone()
            step = -(-rows // partitions)
            for first in range(0, rows, step):
                target.execute(
                    f"CREATE TABLE {table}_{first} PARTITION OF {table}"
                    f" FOR VALUES FROM ({first}) TO ({first + step})"
                )
        source.execute(
            "SELECT relname FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        for (table,) in source.fetchall():
            with tempfile.TemporaryFile() as rows:
                source.copy_expert(f"COPY {table} TO STDOUT (FORMAT binary)", rows)
                rows.seek(0)
                target.copy_expert(f"COPY {table} FROM STDIN (FORMAT binary)", rows)
        target.execute("VACUUM ANALYZE")


def _is_filled(url: str) -> bool:
    with connected(url) as cursor:
        cursor.execute("SELECT to_regclass('schema_state') IS NOT NULL")
        return bool(cursor.fetchone()[0])


class RecordingDatabase(Database):
    """Keeps what it runs."""

    def __init__(self, url: str) -> None:
        super().__init__(url, statement_timeout_ms=60_000, name="scan-measured", session=SESSION)
        self.ran: list[Statement] = []

    def row(self, statement: str, **params: object) -> Any:
        self.ran.append((statement, params, False))
        return super().row(statement, **params)

    def prepared_row(self, statement: str, **params: object) -> Any:
        self.ran.append((statement, params, True))
        return super().prepared_row(statement, **params)

    def run(self, statement: Statement) -> Any:
        name, params, is_prepared = statement
        return (super().prepared_row if is_prepared else super().row)(name, **params)

    def pages(self, statement: Statement) -> int:
        """Of tables and indexes that it touches."""
        name, params, is_prepared = statement
        loaded = self._statements[name]
        with self._working() as connection, connection.cursor() as cursor:
            text, values = loaded.text, params
            if is_prepared:
                prepared = self._prepare(cursor, loaded, dict(params))
                text, values = prepared.execute, [params[key] for key in prepared.positional]
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {text}", values)
            plan = cursor.fetchone()[0][0]["Plan"]
        return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])

    def backend_seconds(self) -> float:
        """What its backend has had of a processor."""
        with self._working() as connection:
            pid = connection.info.backend_pid
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


class Measured(NamedTuple):
    http_us: float
    statement_us: float
    pages: int


class Side:
    """The service on one of the two databases."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.database = RecordingDatabase(url)
        self._numbers = itertools.count()
        settings = Settings(
            database_url=url, rpc_urls=(NOBODY,), rate_limit_anonymous="900000000/second"
        )
        app = create_app(settings)
        parts: Services = app.extensions["scan"]
        app.extensions["scan"] = replace(
            parts, sources=replace(parts.sources, database=self.database)
        )
        self._client = app.test_client()

    def body(self, request: Request) -> bytes:
        response = self._client.open(
            respelled(request.path, next(self._numbers)),  # so that none is cached
            method=request.method,
            data=request.body or None,
            content_type="application/json" if request.body else None,
        )
        if response.status_code != 200:
            raise RuntimeError(f"{request}: {response.status_code} {response.text}")
        return response.get_data()

    def statements(self, request: Request) -> list[Statement]:
        self.body(request)
        self.database.ran.clear()
        self.body(request)
        return list(self.database.ran)

    def seconds(self, run: Callable[[], object], repeats: int, *, with_client: bool) -> float:
        client, backend = time.thread_time(), self.database.backend_seconds()
        for _ in range(repeats):
            run()
        client, backend = time.thread_time() - client, self.database.backend_seconds() - backend
        return (backend + (client if with_client else 0)) / repeats


def _measure(options: argparse.Namespace, *sides: Side) -> None:
    print(f"{'':58}{'HTTP us':>16}{'x':>6}{'statement us':>16}{'x':>6}{'pages':>14}", flush=True)
    worst: list[tuple[float, float]] = []
    for name, request in _requests(sides[0]):
        if not options.only.search(name):
            continue
        plain, split = _rounds(options, request, sides)
        http, statement = split.http_us / plain.http_us, split.statement_us / plain.statement_us
        worst.append((http, statement))
        print(
            f"{name:58}{plain.http_us:8.0f}{split.http_us:8.0f}{http:6.2f}"
            f"{plain.statement_us:8.0f}{split.statement_us:8.0f}{statement:6.2f}"
            f"{plain.pages:7}{split.pages:7}",
            flush=True,
        )
    above = [sum(ratio > 1.5 for ratio in ratios) for ratios in zip(*worst, strict=True)]
    print(f"of {len(worst)}, above 1.5: {above[0]} over HTTP, {above[1]} statements alone")


def _rounds(
    options: argparse.Namespace, request: Request, sides: tuple[Side, ...]
) -> list[Measured]:
    bodies = [_comparable(side.body(request)) for side in sides]
    if bodies[0] != bodies[1]:
        raise RuntimeError(f"{request}: {bodies[0]!r} but {bodies[1]!r}")
    statements = [side.statements(request) for side in sides]
    taken: list[tuple[list[float], list[float]]] = [([], []), ([], [])]
    for _ in range(options.rounds):
        for side, (http, alone), used in zip(sides, taken, statements, strict=True):
            read = lambda side=side: side.body(request)  # noqa: E731
            http.append(side.seconds(read, options.repeats, with_client=True))

            def run(side: Side = side, used: list[Statement] = used) -> None:
                for statement in used:
                    side.database.run(statement)

            alone.append(side.seconds(run, options.repeats, with_client=False))
    return [
        Measured(
            statistics.median(http) * 1e6,
            statistics.median(alone) * 1e6,
            sum(side.database.pages(statement) for statement in used),
        )
        for side, (http, alone), used in zip(sides, taken, statements, strict=True)
    ]


def _comparable(body: bytes) -> Any:
    return json.loads(body)


def _requests(plain: Side) -> Iterator[tuple[str, Request]]:
    with connected(plain.url) as cursor:
        cursor.execute(
            "SELECT hex(a.address) FROM addresses a WHERE a.transaction_count >= 5"
            " AND a.transfer_count >= 5 ORDER BY a.last_seen - a.first_seen, a.address LIMIT 1"
        )
        [brief] = cursor.fetchone()
        cursor.execute("SELECT ordinal, hex(hash) FROM transactions ORDER BY ordinal")
        hashes = [row[1] for row in cursor.fetchall()]
        cursor.execute("SELECT max(number), extract(epoch FROM max(timestamp)) FROM blocks")
        newest, time_s = cursor.fetchone()
    people = {"busy": HOT, "sparse": USUAL, "brief": brief}
    for position, number in (("first", 0), ("middle", len(hashes) // 2), ("last", len(hashes) - 1)):
        yield f"transaction {position}", _get(f"/transactions/{hashes[number]}")
        yield (
            f"internal of a transaction {position}",
            _get(f"/transactions/{hashes[number]}/internal"),
        )
    middle = newest // 2
    span = {"blockFrom": middle, "blockTo": middle + 20}
    half = {"blockFrom": middle}
    times = {"timeFrom": int(time_s) - 12 * 900, "timeTo": int(time_s) - 12 * 300}
    lists: list[tuple[str, str, dict[str, Any]]] = []
    for entity in TABLES:
        lists.append((entity, entity, {}))
    for kind, address in people.items():
        for entity in TABLES[:4]:
            lists.append((f"{entity} of {kind}", entity, {"address": address}))
        lists.append((f"transactions from {kind}", "transactions", {"from": address}))
        lists.append((f"token_transfers to {kind}", "token_transfers", {"to": address}))
    for kind, token in {"busy": HOT_TOKEN, "usual": address_of("token", 300)}.items():
        lists.append(
            (f"token_transfers of token {kind}", "token_transfers", {"tokenAddress": token})
        )
        lists.append((f"logs of {kind}", "logs", {"address": token}))
    lists.append(("dex_trades of a dex", "dex_trades", {"dex": "uniswap-v2"}))
    lists.append(("dex_trades of the busy pool", "dex_trades", {"pool": address_of("pool", 0)}))
    lists.append(("dex_trades of a usual pool", "dex_trades", {"pool": address_of("pool", 1000)}))
    for name, entity, keys in lists:
        total = json.loads(plain.body(_query(entity, keys, 0)))["total"]
        last = max(0, (total - 1) // LIMIT * LIMIT)
        for position, offset in {"first": 0, "middle": total // 2, "last": last}.items():
            yield f"{name}, {position}", _query(entity, keys, offset)
        cursor_text = json.loads(plain.body(_query(entity, keys, total // 2)))["next"]
        if cursor_text:
            yield f"{name}, cursor", _query(entity, keys, 0, cursor=cursor_text)
        yield f"{name}, oldest first", _query(entity, keys, 0, "asc")
        yield f"{name}, blocks", _query(entity, {**keys, **span}, 0)
        if keys:
            yield f"{name}, since a block", _query(entity, {**keys, **half}, 0)
        yield f"{name}, times", _query(entity, {**keys, **times}, 0)
    for kind, address in people.items():
        several: list[tuple[str, dict[str, Any]]] = [
            ("transactions", {"from": address, "to": HOT}),
            ("transactions", {"address": address, "status": False}),
            ("transactions", {"address": address, "status": False, **span}),
            ("token_transfers", {"address": address, "tokenAddress": HOT_TOKEN}),
            ("token_transfers", {"address": address, "tokenAddress": HOT_TOKEN, **span}),
            ("internal_transfers", {"from": address, "to": HOT}),
            ("dex_trades", {"maker": address, "dex": "uniswap-v2"}),
        ]
        for entity, keys in several:
            yield f"{entity} {kind} by {' '.join(keys)}", _query(entity, keys, 0)
        for order in ("desc", "asc"):
            yield f"history {kind} {order}", _get(f"/addresses/{address}/history?orderBy={order}")
        yield (
            f"history {kind} range",
            _get(f"/addresses/{address}/history?blockFrom={middle}&blockTo={middle + 500}"),
        )
        yield f"history {kind} of a token", _get(f"/addresses/{address}/history?token={HOT_TOKEN}")
        for action in ("txlist", "tokentx", "txlistinternal"):
            for sort in ("asc", "desc"):
                yield (
                    f"etherscan {action} {kind} {sort}",
                    Request(
                        "GET",
                        f"/api?module=account&action={action}&address={address}"
                        f"&page=1&offset={LIMIT}&sort={sort}",
                    ),
                )
    yield "transactions of a block", _get(f"/blocks/{middle}/transactions")
    yield "block", _get(f"/blocks/{middle}")
    yield "gas", _get("/gas")
    yield "largest transfers", _get("/stats/largest-transfers")
    yield "pool", _get(f"/pools/{address_of('pool', 0)}")
    yield "pools", _get("/pools")
    yield "candles", _get(f"/pools/{address_of('pool', 0)}/candles")


def _get(path: str) -> Request:
    return Request("GET", f"/api/v1{path}")


def _query(
    entity: str, keys: dict[str, Any], offset: int, order: str = "desc", cursor: str | None = None
) -> Request:
    body = {"entity": entity, "filter": keys, "limit": LIMIT, "orderBy": order}
    body |= {"cursor": cursor} if cursor else {"offset": offset}
    return Request("POST", "/api/v1/query", json.dumps(body))


if __name__ == "__main__":
    main()
