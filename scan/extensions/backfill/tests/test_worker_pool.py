"""Processes that write the files of ranges and are killed, or frozen, or whose ranges fail."""

import multiprocessing
import os
import signal
import subprocess
import sys
from functools import partial

import psutil
import pytest

from scan.extensions.backfill import range_files
from scan.extensions.backfill.plan import SpoolFailed, split
from scan.extensions.backfill.spool import RangeTask
from scan.extensions.backfill.tests import pool_tasks
from scan.extensions.backfill.worker_pool import SpoolBounds, WorkerPool, spool
from scan.indexer.block_rows import NO_LOGS
from tests.support import WAIT_S
from tests.support.serving import ROOT, wait_until

pytestmark = pytest.mark.thorough

RANGES = split(0, 19, 10)
TASKS = [RangeTask(("http://key@node",), "", "off", NO_LOGS, blocks) for blocks in RANGES]


def test_the_range_of_a_killed_worker_is_given_to_another(tmp_path):
    files = range_files.RangeFiles(tmp_path)
    pool = WorkerPool(1, files, partial(pool_tasks.end_once, tmp_path / "marker", signal.SIGKILL))
    assert list(spool(pool, TASKS)) == [7, 7]
    assert all(map(files.has, RANGES)) and not (tmp_path / range_files.INCOMING).exists()


def test_the_range_of_a_frozen_worker_is_given_to_a_second_one(tmp_path, caplog):
    files = range_files.RangeFiles(tmp_path)
    pool = WorkerPool(1, files, partial(pool_tasks.end_once, tmp_path / "marker", signal.SIGSTOP))
    assert list(spool(pool, TASKS, SpoolBounds(first_slow_s=0.3))) == [7, 7]
    assert "blocks 0 to 9 take long (0 s); a second worker takes them" in caplog.text
    assert "key" not in caplog.text
    assert all(map(files.has, RANGES)) and not multiprocessing.active_children()


def test_a_range_that_fails_or_kills_its_workers_ends_the_pool(tmp_path):
    killed = WorkerPool(1, range_files.RangeFiles(tmp_path), pool_tasks.kill_always)
    with pytest.raises(SpoolFailed, match="blocks 0 to 9: ended with exit code -9"):
        list(spool(killed, TASKS, SpoolBounds(losses=2)))
    with pytest.raises(SpoolFailed, match="no such block"):
        list(spool(WorkerPool(1, range_files.RangeFiles(tmp_path), pool_tasks.fail), TASKS))


@pytest.mark.long
def test_workers_end_when_the_main_process_is_killed(tmp_path):
    program = (
        "from pathlib import Path; import sys\n"
        "from scan.extensions.backfill.tests.test_worker_pool import *\n"
        "if __name__ == '__main__':\n"
        "    files = range_files.RangeFiles(Path(sys.argv[1]))\n"
        "    list(spool(WorkerPool(2, files, pool_tasks.wait), TASKS))\n"
    )
    path = tmp_path / "main.py"
    path.write_text(program)
    with subprocess.Popen(
        [sys.executable, path, tmp_path], cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}
    ) as main:
        wait_until(lambda: len(list((tmp_path / range_files.INCOMING).glob("*"))) == 2)
        workers = psutil.Process(main.pid).children(recursive=True)
        main.kill()
        assert len(workers) >= 2
        _, alive = psutil.wait_procs(workers, WAIT_S)
    assert not alive
