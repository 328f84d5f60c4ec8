"""A Spark cluster: a master, and workers of one core each, on loopback."""

import importlib.util
import os
import subprocess
import sys
from collections import namedtuple
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.support import serving

SUBMIT_TIMEOUT_S = 240


class SparkCluster(namedtuple("SparkCluster", "master folder")):
    def run(self, script, *arguments):
        """Its output. The driver runs here, everything it computes in the workers."""
        result = serving.completed(
            [sys.executable, str(script), *arguments, self.master],
            env=_environment(),
            timeout=SUBMIT_TIMEOUT_S,
        )
        assert result.returncode == 0, f"{result.stderr[-4000:]}{[*self.executors().values()]}"
        return result.stdout

    def executors(self):
        """By worker, what its executors wrote."""
        return {
            path.relative_to(self.folder).parts[0]: path.read_text(errors="replace")
            for path in self.folder.glob("*/app-*/*/stderr")
        }


@contextmanager
def spark_cluster(folder, workers):
    serving.program("java")
    port = serving.free_port()
    master = f"spark://127.0.0.1:{port}"
    with ExitStack() as running:
        _start(running, folder, "master.Master", "--port", str(port))
        serving.wait_until(lambda: serving.accepts(port))
        for number in range(workers):
            work = ("-d", str(folder / f"worker{number}"))
            _start(running, folder, "worker.Worker", "-c", "1", "-m", "1g", *work, master)
        log = folder / "master.Master"
        serving.wait_until(lambda: log.read_text().count("Registering worker") == workers)
        yield SparkCluster(master, folder)


def _start(running, folder, name, *arguments):
    command = [f"{_home()}/bin/spark-class", f"org.apache.spark.deploy.{name}"]
    options = ["--host", "127.0.0.1", "--webui-port", str(serving.free_port())]
    with (folder / name).open("ab") as log:
        process = subprocess.Popen(
            [*command, *options, *arguments], env=_environment(), stdout=log, stderr=log
        )
    running.callback(serving.stop, process)


def _home():
    package = importlib.util.find_spec("pyspark")
    if package is None or package.origin is None:
        message = "pyspark (requirements/spark.txt) is not installed"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    return Path(package.origin).parent


def _environment():
    """Everything on loopback, whatever the machine's name resolves to."""
    return {
        **os.environ,
        "SPARK_HOME": str(_home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": "--conf spark.driver.host=127.0.0.1"
        " --conf spark.driver.bindAddress=127.0.0.1 --conf spark.ui.enabled=false"
        " --conf spark.executor.memory=512m --conf spark.sql.shuffle.partitions=2 pyspark-shell",
    }
