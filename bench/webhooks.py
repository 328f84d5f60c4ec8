"""How fast webhooks are matched and delivered: python -m bench.webhooks.

PostgreSQL with its durability on, `scan deliver` and the receiver in processes of their own, all
on this machine over TLS.
"""

import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple

import psycopg2

from scan.database import migrations
from scan.database.connection import Database
from scan.database.embedded import EmbeddedPostgres
from scan.settings import ROOT
from tests.support.made_blocks import Chain, Move, address
from tests.support.receiver import Answer, Authority, Handler, Received, Receiver, running
from tests.support.webhooks import Webhooks

HEALTHY = 10
BACKLOG = 2_000
PACED_BLOCKS = 150
BLOCK_EVERY_S = 0.1
IDLE = 100_000
BLOCK_EVENTS = 600
CROWDS = (100, 5_000)
CROWD_TRANSACTIONS = 60
WATCHED = address("watched")


class Served(NamedTuple):
    """A receiver in a process of its own: where it is, and what it has got."""

    url: str
    pipe: Connection

    def arrivals(self) -> list[tuple[str, int, float]]:
        """(path, block number, time) of each event so far."""
        self.pipe.send("arrivals")
        return list(self.pipe.recv())

    def forget(self) -> None:
        self.pipe.send("forget")
        self.pipe.recv()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        postgres = EmbeddedPostgres(Path(folder))
        postgres.start()
        try:
            _matching(_fresh(postgres, "matching"))
            _crowded(_fresh(postgres, "crowded"))
            _delivering(postgres, Path(folder))
        finally:
            postgres.stop()


def _fresh(postgres: EmbeddedPostgres, name: str) -> str:
    url = postgres.database_url(name)
    database = Database(url, statement_timeout_ms=0)
    migrations.bring_up(database, migrations.expected_schema())
    database.close()
    return url


def _matching(url: str) -> None:
    """The whole transaction of a block of 600 transactions, with and without webhooks; the best."""
    database = Database(url, statement_timeout_ms=0)
    chain = Chain(database)
    parties = [os.urandom(20) for _ in range(BLOCK_EVENTS)]

    def block_ms() -> float:
        times = []
        for _ in range(15):
            started = time.perf_counter()
            chain.append([Move(party, os.urandom(20)) for party in parties])
            times.append(1000 * (time.perf_counter() - started))
        return min(times)

    block_ms()
    _print("a block of 600 transactions, no webhooks", f"{block_ms():.0f} ms")
    script = Path(__file__).with_name("webhooks.sql").read_text(encoding="utf-8")
    database.execute_script(f"SET bench.webhooks = {IDLE:d};\n{script}")
    _print(f"… {IDLE:,} idle webhooks", f"{block_ms():.0f} ms")
    hexes = ",".join(party.hex() for party in parties)
    database.execute_script(f"SET bench.parties = '{hexes}';\n{script}")
    _print("… and 600 that match, each once", f"{block_ms():.0f} ms")
    database.close()


def _crowded(url: str) -> None:
    """A block of one busy address: with as many webhooks as the API allows for it, and with many
    more, as somebody else's statement could have registered them."""
    database = Database(url, statement_timeout_ms=0)
    chain = Chain(database)
    moves = [Move(WATCHED, os.urandom(20)) for _ in range(CROWD_TRANSACTIONS)]
    chain.append(moves)
    script = Path(__file__).with_name("webhooks.sql").read_text(encoding="utf-8")
    for webhooks in CROWDS:
        hexes = ",".join([WATCHED.hex()] * webhooks)
        database.execute_script(f"SET bench.parties = '{hexes}';\n{script}")
        before, started = _wal_bytes(url), time.perf_counter()
        chain.append(moves)
        seconds = time.perf_counter() - started
        written = (_wal_bytes(url) - before) / 2**20
        what = f"{CROWD_TRANSACTIONS} transactions of one address, {webhooks:,} webhooks"
        _print(what, f"{1000 * seconds:.0f} ms, {written:.1f} MiB")
    database.close()


def _wal_bytes(url: str) -> int:
    connection = psycopg2.connect(url)
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_current_wal_insert_lsn() - '0/0'")
            return int(cursor.fetchall()[0][0])
    finally:
        connection.close()


def _delivering(postgres: EmbeddedPostgres, folder: Path) -> None:
    authority = Authority(folder)
    with _served(authority) as served:
        webhooks = Webhooks(_fresh(postgres, "delivering"), authority.bundle)
        for number in range(HEALTHY):
            webhooks.register(
                address(f"healthy {number}"), f"{served.url}/{number}", watch_address=WATCHED
            )
        _backlog(webhooks, served)
        alone = _paced(webhooks, served)
        for path in ("hang", "fail"):
            webhooks.register(address(path), f"{served.url}/{path}", watch_address=WATCHED)
        beside = _paced(webhooks, served)
        change = 100 * (statistics.median(beside) / statistics.median(alone) - 1)
        _print("median beside one that hangs and one that fails", f"{change:+.0f} %")


def _backlog(webhooks: Webhooks, served: Served) -> None:
    for _ in range(BACKLOG // HEALTHY // 10):
        webhooks.chain.append([Move(WATCHED, bytes(20))] * 10)
    with _deliverer(webhooks):
        while len(served.arrivals()) < BACKLOG:
            time.sleep(0.05)
    moments = [at for _, _, at in served.arrivals()]
    rate = (len(moments) - 1) / (max(moments) - min(moments))
    _print(f"{BACKLOG:,} events to {HEALTHY} webhooks", f"{rate:.0f} events/s")


def _paced(webhooks: Webhooks, served: Served) -> list[float]:
    """Milliseconds from commit to receipt of the healthy ones' events, ten blocks a second."""
    served.forget()
    committed = {}
    with _deliverer(webhooks):
        time.sleep(1.0)
        for _ in range(PACED_BLOCKS):
            webhooks.chain.append([Move(WATCHED, bytes(20))])
            committed[webhooks.chain.number] = time.time()
            time.sleep(BLOCK_EVERY_S)
        time.sleep(1.0)
        arrivals = served.arrivals()
    waits = sorted(
        1000 * (at - committed[number]) for path, number, at in arrivals if path[1:].isdigit()
    )
    assert len(waits) == PACED_BLOCKS * HEALTHY
    p50, p99 = (waits[int(len(waits) * share)] for share in (0.5, 0.99))
    _print("commit to receipt", f"p50 {p50:.1f} ms, p99 {p99:.1f} ms")
    return waits


@contextmanager
def _deliverer(webhooks: Webhooks) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-m", "scan", "deliver"],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "DATABASE_URL": webhooks.settings.database_url,
            "SCAN_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8",
            "REQUESTS_CA_BUNDLE": webhooks.settings.ca_bundle,
        },
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


@contextmanager
def _served(authority: Authority) -> Iterator[Served]:
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("fork")
    ended = context.Event()
    process = context.Process(target=_serve, args=(authority, theirs, ended), daemon=True)
    process.start()
    try:
        yield Served(ours.recv(), ours)
    finally:
        ended.set()
        process.join(5)


def _serve(authority: Authority, pipe: Connection, ended: Event) -> None:
    def behave(_: Handler, received: Received) -> Answer | None:
        if received.path == "/hang":
            ended.wait(60)
            return None
        return Answer(500 if received.path == "/fail" else 204)

    with running(Receiver(*authority.certificate("localhost"))) as receiver:
        receiver.behaviour = behave
        pipe.send(receiver.url("").rstrip("/"))
        while not ended.is_set():
            if not pipe.poll(0.1):
                continue
            if pipe.recv() == "forget":
                receiver.received.clear()
                pipe.send(None)
            else:
                pipe.send(
                    [(r.path, r.event["data"]["blockNumber"], r.at) for r in receiver.received]
                )


def _print(what: str, figure: str) -> None:
    print(f"{what:<50} {figure}", flush=True)


if __name__ == "__main__":
    main()
