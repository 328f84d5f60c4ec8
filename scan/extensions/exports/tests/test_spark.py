"""An export read by Spark with two workers, by the program of docs/examples."""

import re
from collections import Counter

import pytest

from scan.database.connection import Database
from scan.extensions.exports.table_export import ExportOptions, export
from tests.support import serving, spark


@pytest.mark.long
@pytest.mark.timeout(600)
def test_spark_reads_an_export_with_two_workers(indexed, scenario, tmp_path):
    tables = ("blocks", "token_transfers", "tokens")
    program = serving.ROOT / "docs" / "examples" / "spark_busiest.py"
    folder, cluster_folder = tmp_path / "export", tmp_path / "spark"
    cluster_folder.mkdir()
    database = Database(indexed.url, statement_timeout_ms=10_000)
    export(database, ExportOptions(tables, "parquet", folder, 40, None, None))
    database.close()
    with spark.spark_cluster(cluster_folder, workers=2) as cluster:
        output = cluster.run(program, str(folder))
        executors = cluster.executors()
    rows = [line.split("\t") for line in output.splitlines()]
    transfers, units = Counter(), Counter()
    for transfer in scenario.truth.token_transfers:
        key = (transfer["timestamp"][:10], transfer["tokenAddress"])
        transfers[key] += 1
        units[key] += int(transfer["value"])
    assert {(day, token): int(count) for day, token, _, count, *_ in rows} == transfers
    assert {(row[0], row[1]): int(row[5]) for row in rows} == units
    assert executors.keys() == {"worker0", "worker1"}
    for log in executors.values():
        assert re.search(r"FileScanRDD: Reading File path: file:.*/token_transfers/", log), log
