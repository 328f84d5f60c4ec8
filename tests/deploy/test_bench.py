"""`make bench` on a small chain: that each comparison runs, not how fast it is."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.serving import ROOT, program

LISTS, RECORDS = "blocks|transactions|tokens", "address|transaction|block|token"
CASES = f"storage|http (stats|{LISTS}|{RECORDS}) (one|first)"
RIVALS = ("scan", "bare", "small", "plain", "fastapi", "orm", "pgbench")


@pytest.mark.long
@pytest.mark.timeout(600)
def test_every_comparison_of_the_benchmark_runs(tmp_path: Path) -> None:
    program("wrk")
    environment = os.environ | {
        "BENCH_DIR": str(tmp_path),
        "BENCH_TRANSACTIONS": "15000",
        "BENCH_ROUNDS": "1",
        "BENCH_ONLY": CASES,
    }
    command = [sys.executable, "-m", "bench"]
    run = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-3000:]
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    cases = {(case["name"], case["place"]): case["servers"] for case in results["serving"]["cases"]}
    assert set(cases[("transactions", "first")]) == set(RIVALS)
    assert set(cases[("address", "one")]) == set(RIVALS) - {"plain"}
    failed = {
        (name, server): measured["failed"]
        for name, servers in cases.items()
        for server, measured in servers.items()
        if measured["failed"] or not measured["per_s"]
    }
    assert failed == {}
    assert all(table["bytes"] > 0 for table in results["storage"]["tables"].values())
