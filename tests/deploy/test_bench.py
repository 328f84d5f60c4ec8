"""`make bench` on a small chain: that each comparison runs, not how fast it is."""

import json
import os
import sys

import pytest

from tests.support.serving import ROOT, completed, program


@pytest.mark.long
@pytest.mark.timeout(600)
def test_every_comparison_of_the_benchmark_runs(tmp_path):
    program("wrk")
    environment = os.environ | {
        "BENCH_DIR": str(tmp_path),
        "BENCH_TRANSACTIONS": "15000",
        "BENCH_INGEST_BLOCKS": "40",
        "BENCH_HEAD_BLOCKS": "20",
        "BENCH_ROUNDS": "1",
        "BENCH_ONLY": "index|bulk|head|requests (blocks|transactions|tokens) |requests address one",
    }
    run = completed([sys.executable, "-m", "bench"], timeout=None, cwd=ROOT, env=environment)
    assert run.returncode == 0, run.stderr[-3000:]
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    columns = {
        (case["name"], case["place"], name): column
        for case in results["requests"]
        for name, column in case["columns"].items()
    }
    servers = ("scan", "plain", "scan unbound", "plain unbound")
    assert {("transactions", "any", name) for name in servers} < set(columns)
    assert ("address", "one", "scan") in columns
    assert all(column["per_s"] for column in columns.values())
    assert {result["transactions"] for result in results["indexing"].values()} == {6000}
    expected = {"commit": 3, "stream": 3, "page": 3}
    assert {name: len(lags) for name, lags in results["head"]["lag_s"].items()} == expected
    assert all(results["head"]["milliseconds_a_block"].values())
