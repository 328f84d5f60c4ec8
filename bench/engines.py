"""What an engine costs that spreads ranges over machines: packages, start, tasks, lost workers.

    python -m venv /tmp/ray && /tmp/ray/bin/pip install ray psutil
    /tmp/ray/bin/python bench/engines.py ray

Three workers on this machine, for dask (the package distributed), ray or spark (pyspark); needs
nothing of Scan. JSON on standard output: README.md has the result.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import psutil

WORKERS, TASKS, LONG_TASKS, TASK_S = 3, 500, 30, 0.3
FROZEN_S = 40.0  # after which a run with a frozen worker counts as one that waits for it

Run = Callable[[Callable[[int], int], int], Iterable[int]]


def nothing(number: int) -> int:
    return number


def wait(number: int) -> int:
    """As long as a small range; notes in which process, for whoever kills one."""
    Path(os.environ["ENGINE_PIDS"], str(os.getpid())).touch()
    time.sleep(TASK_S)
    return number


def dask() -> Run:
    from distributed import Client, LocalCluster, as_completed

    client = Client(LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None))

    def run(work: Callable[[int], int], tasks: int) -> Iterable[int]:
        futures = client.map(work, range(tasks), pure=False)
        return (future.result() for future in as_completed(futures))

    return run


def ray() -> Run:
    import ray as engine

    engine.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)

    def run(work: Callable[[int], int], tasks: int) -> Iterable[int]:
        remote = engine.remote(max_retries=3)(work)
        waiting = [remote.remote(number) for number in range(tasks)]
        while waiting:
            done, waiting = engine.wait(waiting)
            yield from engine.get(done)

    return run


def spark() -> Run:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master(f"local-cluster[{WORKERS},1,1024]")
    context = session.config("spark.speculation", "true").getOrCreate().sparkContext
    context.setLogLevel("OFF")

    def run(work: Callable[[int], int], tasks: int) -> Iterable[int]:
        return context.parallelize(range(tasks), tasks).map(work).collect()

    return run


def main() -> None:
    folder = tempfile.mkdtemp(prefix="engines-")
    os.environ["ENGINE_PIDS"] = folder
    began = time.monotonic()
    run = {"dask": dask, "ray": ray, "spark": spark}[sys.argv[1]]()
    assert sorted(run(nothing, WORKERS)) == list(range(WORKERS))
    results: dict[str, Any] = {
        "engine": sys.argv[1],
        "packages": len(list(distributions())) - 3,  # without pip, setuptools and psutil
        "megabytes": _megabytes(Path(sys.prefix)),
        "start_s": time.monotonic() - began,
        "processes": len(_family()),
        "resident_megabytes": sum(p.memory_info().rss for p in _family()) / 1e6,
    }
    before_s = _processor_s()
    results["task_ms"] = _seconds(run, nothing, TASKS) / TASKS * 1000
    results["task_processor_ms"] = (_processor_s() - before_s) / TASKS * 1000
    results["undisturbed_s"] = _seconds(run, wait, LONG_TASKS)
    results["killed_s"] = _disturbed(run, Path(folder), signal.SIGKILL)
    results["frozen_s"] = _disturbed(run, Path(folder), signal.SIGSTOP)
    print(json.dumps({k: round(v, 2) if isinstance(v, float) else v for k, v in results.items()}))
    sys.stdout.flush()
    for process in reversed(_family()):
        process.kill()


def _seconds(run: Run, work: Callable[[int], int], tasks: int) -> float:
    began = time.monotonic()
    assert sorted(run(work, tasks)) == list(range(tasks))
    return time.monotonic() - began


def _disturbed(run: Run, folder: Path, signal_: int) -> float | str:
    """The seconds of a run, a second into which one worker gets the signal; or what came of it."""
    for path in folder.iterdir():
        path.unlink()
    results: list[float | str] = []

    def attempt() -> None:
        try:
            results.append(_seconds(run, wait, LONG_TASKS))
        except Exception as error:
            results.append(repr(error)[:200])

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    while not list(folder.iterdir()):
        time.sleep(0.02)
    time.sleep(1)
    os.kill(int(next(folder.iterdir()).name), signal_)
    thread.join(FROZEN_S)
    return results[0] if results else f"waits longer than {FROZEN_S:.0f} s"


def _family() -> list[psutil.Process]:
    """This process's children and theirs, and Ray's, of which some leave."""
    processes = psutil.Process().children(recursive=True)
    pids = {process.pid for process in processes}
    return processes + [
        process
        for process in psutil.process_iter(["cmdline"])
        if process.pid not in {*pids, os.getpid()}
        and any(text.startswith(sys.prefix) for text in process.info["cmdline"] or ())
    ]


def _processor_s() -> float:
    return sum(sum(process.cpu_times()[:2]) for process in [psutil.Process(), *_family()])


def _megabytes(folder: Path) -> int:
    done = subprocess.run(["du", "-sm", str(folder)], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[0])


if __name__ == "__main__":
    main()
