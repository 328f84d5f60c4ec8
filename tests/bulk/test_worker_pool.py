"""Workers of a bulk backfill that are killed, or frozen, or whose tasks fail.

Each process of a pool imports the module of its task: this one imports little.
"""

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from scan.bulk import worker_pool
from scan.bulk.worker_pool import TaskFailed, WorkerPool


def _kill_once(marker: str) -> str:
    """In a worker: ends it by SIGKILL the first time."""
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def _freeze_once(marker: str) -> str:
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGSTOP)
    return "done"


def _kill_always(_: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _fail(message: str) -> None:
    raise ValueError(message)


def test_the_task_of_a_killed_worker_is_done_again(tmp_path: Path) -> None:
    pool = WorkerPool(_kill_once, 1)
    assert list(pool.results([str(tmp_path / "first"), str(tmp_path / "second")])) == ["done"] * 2


def test_the_task_of_a_frozen_worker_is_done_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(worker_pool, "SILENT_S", 3 * worker_pool.BEAT_S)
    marker = str(tmp_path / "first")
    assert list(WorkerPool(_freeze_once, 1).results([marker])) == ["done"]
    assert f"the process with {marker} is frozen (3 s) and ended" in caplog.text
    assert not multiprocessing.active_children()


def test_a_task_that_fails_or_kills_its_workers_ends_the_pool(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker_pool, "MAX_DEATHS", 2)
    with pytest.raises(TaskFailed, match="a task ends its process"):
        list(WorkerPool(_kill_always, 1).results(["a task"]))
    with pytest.raises(TaskFailed, match="no such block"):
        list(WorkerPool(_fail, 1).results(["no such block"]))
