"""The threads of a worker on one processor, and what it starts on all of them."""

import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import requests

from scan.processors import ALLOWED
from scan.verification.sandbox import Program
from tests.support.serving import completed, free_port, gunicorn_started, wait_for, wait_until

BOUND = "tests.support.bound_worker.BoundWorker"
# By a thread that started before, too: at first, 9 s, 10 s and 10.05 s later.
CHECKS = """
import os, sys, threading
from scan import processors
processors.MAX_LOAD = float(sys.argv[1])
waiting = threading.Event()
thread = threading.Thread(target=waiting.wait)
thread.start()
one = processors.OneProcessor()
for now in (0.0, 9.0, 10.0, 10.05):
    one.check(now)
    allowed = [os.sched_getaffinity(number) for number in (0, thread.native_id)]
    print(*map(len, allowed), allowed[0] == allowed[1])
waiting.set()
"""


@pytest.mark.check
@pytest.mark.parametrize("max_load", ["inf", "-1"])
def test_threads_are_bound_and_free_for_a_moment_and_where_the_machine_is_busy(max_load):
    result = completed([sys.executable, "-c", CHECKS, max_load], check=True)
    every = len(ALLOWED)
    expected = (1, 1, every, 1) if max_load == "inf" else (every,) * 4
    assert result.stdout.splitlines() == [f"{n} {n} True" for n in expected]


def test_threads_of_a_worker_share_a_processor(database_url):
    port = free_port()
    with gunicorn_started(database_url, port, "--worker-class", BOUND) as process:
        address = wait_for(port, process)
        for number in range(20):
            requests.get(f"{address}/api/v1/blocks?page={number + 1}", timeout=30)
        [worker] = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert len(_threads(worker)) > 2
        wait_until(lambda: len(_processors(worker)) == 1, process)


def _processors(pid):
    """Those that any of its threads may use."""
    processors = set()
    for thread in _threads(pid):
        with suppress(ProcessLookupError):  # it has ended
            processors |= os.sched_getaffinity(thread)
    return processors


def _threads(pid):
    return [int(thread.name) for thread in Path(f"/proc/{pid}/task").iterdir()]


@pytest.mark.check
def test_a_compiler_may_use_all(tmp_path):
    script = tmp_path / "compiler"
    script.write_text(f"#!{sys.executable}\nimport os\nprint(sorted(os.sched_getaffinity(0)))\n")
    script.chmod(0o755)
    (tmp_path / "folder").mkdir()
    try:
        os.sched_setaffinity(0, {min(ALLOWED)})
        finished = Program(script, os.environ["PATH"]).run([], str(tmp_path / "folder"), 60)
    finally:
        os.sched_setaffinity(0, ALLOWED)
    assert finished.output.decode().strip() == str(sorted(ALLOWED))
