"""The threads of a worker on one processor, and what it starts on all of them."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import requests

from scan.verification.sandbox import Program
from tests.support.serving import free_port, gunicorn_started, wait_for, wait_until

ALLOWED = os.sched_getaffinity(0)
# After the first check, 9 s, 10 s and 10.5 s later; of this thread and of one that started before.
CHECKS = """
import os, threading
from scan.server.cpu_affinity import OneProcessor
waiting = threading.Event()
thread = threading.Thread(target=waiting.wait)
thread.start()
one = OneProcessor()
for now in (0.0, 9.0, 10.0, 10.5):
    one.check(now)
    counts = [len(os.sched_getaffinity(number)) for number in (0, thread.native_id)]
    same = os.sched_getaffinity(0) == os.sched_getaffinity(thread.native_id)
    print(*counts, same)
waiting.set()
"""


@pytest.mark.check
def test_threads_are_confined_and_set_free_for_a_moment() -> None:
    result = subprocess.run(
        [sys.executable, "-c", CHECKS], capture_output=True, text=True, check=True, timeout=30
    )
    every = len(ALLOWED)
    assert result.stdout.splitlines() == [f"{n} {n} True" for n in (1, 1, every, 1)]


def test_threads_of_a_worker_share_a_processor(database_url: str) -> None:
    port = free_port()
    with gunicorn_started(database_url, port) as process:
        address = wait_for(port, process)
        for number in range(20):
            requests.get(f"{address}/api/v1/blocks?page={number + 1}", timeout=10)
        [worker] = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert len(_threads(worker)) > 2
        wait_until(lambda: len(_processors(worker)) == 1, process)


def _processors(pid: str) -> set[int]:
    """Those that any of its threads may use."""
    processors: set[int] = set()
    for thread in _threads(pid):
        with suppress(ProcessLookupError):  # it has ended
            processors |= os.sched_getaffinity(thread)
    return processors


def _threads(pid: str) -> list[int]:
    return [int(thread.name) for thread in Path(f"/proc/{pid}/task").iterdir()]


@pytest.mark.check
def test_a_compiler_may_use_all(tmp_path: Path) -> None:
    script = tmp_path / "compiler"
    script.write_text(f"#!{sys.executable}\nimport os\nprint(sorted(os.sched_getaffinity(0)))\n")
    script.chmod(0o755)
    (tmp_path / "folder").mkdir()
    try:
        os.sched_setaffinity(0, {min(ALLOWED)})
        finished = Program(script, os.environ["PATH"]).run([], str(tmp_path / "folder"), 20)
    finally:
        os.sched_setaffinity(0, ALLOWED)
    assert finished.output.decode().strip() == str(sorted(ALLOWED))
