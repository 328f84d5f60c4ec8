"""SIGKILL at random moments of a bulk backfill, while the chain's end is replaced.

Ten times; BULK_KILLS=30 BULK_SEED=7 tries longer, and other moments.
"""

import os
import random
import signal
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg2
import pytest

from tests.extensions.bulk.backfilling import BackfillProcess
from tests.extensions.bulk.test_forks import fork
from tests.support.anvil import Anvil
from tests.support.database import Postgres, execute
from tests.support.indexer_process import PATIENCE_S
from tests.support.indexing import Indexing
from tests.support.scenario import Stage, play
from tests.support.table_digest import digest, fresh_digest

KILLS = int(os.environ.get("BULK_KILLS", "10"))
SEED = int(os.environ.get("BULK_SEED", "24"))
FORKS = (3, 7)  # before these kills
# For each kill of a backfill the stage it waits for, and how long after that it comes at most:
# about as long as the stage lasts. Contracts are inspected in the first two.
MOMENTS = (("spool", 3.0),) * 2 + (("inspect", 1.0),) + (("load", 4.0),) * 3 + (("accept", 0.6),)
STAGES = ("spool", "inspect", "load", "accept")


@pytest.fixture
def server() -> Iterator[Postgres]:
    """Of its own: SIGKILL of one backend ends the sessions of all."""
    with Postgres() as server:
        yield server


class Killer:
    """Kills one process after the other of a backfill, and starts what has to be started again."""

    def __init__(self, chance: random.Random, stage: Stage) -> None:
        self._chance = chance
        self._chain = stage
        self._forks = deque(FORKS)
        self.killed: Counter[tuple[str, str]] = Counter()  # by stage and process

    def run(self, process: BackfillProcess, database_url: str) -> None:
        """Until the backfill is accepted, which may be before KILLS."""
        for stage, limit_s in MOMENTS[: KILLS - self.killed.total()]:
            if not self._wait_for(stage, process, database_url):
                return
            time.sleep(self._chance.uniform(0, limit_s))
            if not self._is_running(process):
                return
            if self._forks and self.killed.total() >= self._forks[0]:
                self._forks.popleft()
                fork(self._chain)
            self._kill(process, database_url)
        while self._is_running(process):
            time.sleep(0.05)

    def _wait_for(self, stage: str, process: BackfillProcess, database_url: str) -> bool:
        """This stage or one after it; False where the backfill ended before."""
        later = STAGES[STAGES.index(stage) :]
        deadline = time.monotonic() + PATIENCE_S
        while _stage(database_url) not in later:
            assert time.monotonic() < deadline, process.tail()
            if not self._is_running(process):
                return False
            time.sleep(0.01)
        return True

    def _is_running(self, process: BackfillProcess) -> bool:
        """False at its end; it waits for a server that recovers."""
        code = process.exit_code()
        if code and "the database holds a chain already" in process.output():
            return False  # it was killed between the commit and its own end
        assert not code, process.tail()
        return code is None

    def _kill(self, process: BackfillProcess, database_url: str) -> None:
        pids = {"worker": _workers(process.pid), "backend": _backends(database_url)}
        victim = self._chance.choice(["main", *(name for name in pids if pids[name])])
        self.killed[_stage(database_url) or "end", victim] += 1
        if victim == "main":
            process.kill()
            process.start()
            return
        with suppress(ProcessLookupError):
            os.kill(self._chance.choice(pids[victim]), signal.SIGKILL)


def _stage(database_url: str) -> str | None:
    """None without a backfill; waits for a server that recovers."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            rows = execute(database_url, "SELECT stage FROM bulk_backfill")
            return str(rows[0][0]) if rows else None
        except psycopg2.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def _workers(pid: int) -> list[int]:
    """Processes that fetch: children that multiprocessing spawned."""
    children = Path(f"/proc/{pid}/task").glob("*/children")
    pids = [int(child) for path in children for child in path.read_text().split()]
    return [child for child in pids if b"spawn_main" in _command_line(child)]


def _command_line(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _backends(database_url: str) -> list[int]:
    with suppress(psycopg2.OperationalError):
        rows = execute(
            database_url,
            "SELECT pid FROM pg_stat_activity"
            " WHERE application_name = 'scan-backfill' AND datname = current_database()",
        )
        return [int(str(pid)) for (pid,) in rows]
    return []


@pytest.mark.long
@pytest.mark.timeout(1800)  # 100 s where nothing else runs
def test_a_backfill_that_is_killed_at_random_is_that_of_the_indexer(
    server: Postgres, anvil: Anvil, tmp_path: Path
) -> None:
    killer = Killer(random.Random(SEED), play(anvil))
    template = server.make_template()
    rounds = 0
    while killer.killed.total() < KILLS:
        rounds += 1
        with server.cloned(template) as url:
            with BackfillProcess(
                *(url, anvil.url, tmp_path / f"{rounds}", anvil.head() - 3),
                workers=2,
                range_blocks=4,
            ) as process:
                killer.run(process, url)
            Indexing(url, anvil.url).run_until(anvil.head())
            assert digest(url) == fresh_digest(server, template, anvil)
    stages, processes = (set(names) for names in zip(*killer.killed, strict=True))
    assert stages >= {"spool", "load"}
    assert processes >= {"main", "backend"}
