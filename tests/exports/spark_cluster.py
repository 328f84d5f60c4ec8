"""An export read by Spark: a master and two workers, each a process of its own; run by hand.

    pip install pyspark==3.5.3; apt-get install openjdk-17-jre-headless
    scan export all --output /data/export
    python tests/exports/spark_cluster.py /data/export

Not in CI, for its size: pyspark takes 300 MB, and a Java runtime 200 MB.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pyspark
from pyspark.sql import SparkSession

HOST = "127.0.0.1"
START_TIMEOUT_S = 120


def main(folder: Path) -> None:
    home = Path(pyspark.__file__).parent
    port = _free_port()
    with ExitStack() as stack:
        work = stack.enter_context(TemporaryDirectory())
        master = ["master.Master", "--host", HOST, "--port", str(port), "--webui-port", "0"]
        stack.enter_context(_process(home, *master))
        _wait_for(port)
        url = f"spark://{HOST}:{port}"
        for _ in range(2):
            worker = ["worker.Worker", "--host", HOST, "-c", "1", "-m", "1g", "--webui-port", "0"]
            stack.enter_context(_process(home, *worker, "-d", work, url))
        builder = SparkSession.builder.master(url).config("spark.driver.host", HOST)
        session = builder.config("spark.executor.memory", "768m").getOrCreate()
        stack.callback(session.stop)
        _wait_for_workers(session)
        _compare(session, folder)


def _compare(session: SparkSession, folder: Path) -> None:
    """Rows of each table with the manifest, and a query of docs/analytics.md."""
    ranges = json.loads((folder / "manifest.json").read_bytes())["ranges"]
    for table in ranges[0]["files"]:
        rows = session.read.parquet(f"{folder}/{table}/*.parquet")
        expected = sum(each["files"][table]["rows"] for each in ranges)
        assert rows.count() == expected, table
        rows.createOrReplaceTempView(table)
        print(table, expected, "rows,", rows.rdd.getNumPartitions(), "partitions")
    busiest = session.sql(
        "SELECT to_date(from_unixtime(timestamp_s)) AS day, lower(hex(token_address)) AS token,"
        " count(*) AS transfers, sum(value_0 + value_1 * pow(2D, 64)) AS units"
        " FROM token_transfers JOIN blocks ON number = block_number"
        " GROUP BY 1, 2 ORDER BY transfers DESC, token LIMIT 3"
    )
    busiest.show(truncate=False)


@contextmanager
def _process(home: Path, name: str, *arguments: str) -> Iterator[None]:
    command = ["java", "-Xmx256m", "-cp", f"{home}/jars/*", f"org.apache.spark.deploy.{name}"]
    environment = {**os.environ, "SPARK_HOME": str(home)}  # by which a worker starts executors
    process = subprocess.Popen([*command, *arguments], env=environment, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError("the master does not answer")


def _wait_for_workers(session: SparkSession) -> None:
    """The driver is one of those that have memory."""
    deadline = time.monotonic() + START_TIMEOUT_S
    context = session.sparkContext._jsc.sc()
    while context.getExecutorMemoryStatus().size() < 3:
        if time.monotonic() > deadline:
            raise TimeoutError("the workers do not come")
        time.sleep(0.2)
    print("two workers, at", session.sparkContext.master)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
