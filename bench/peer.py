"""PyPI's ethereum-etl and cryo beside Scan's own files, of the same blocks from the same node.

    python -m bench.peer --blocks 200

They only write files: no indexes, no counters, no reorganisations, and no check of hashes and
roots, which Scan's files include. Their pins need a virtual environment of its own. JSON on
standard output: seconds, microseconds of processor a transaction, rows.
"""

import argparse
import csv
import json
import logging
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.chain import made_hashes
from bench.node import HASHES
from bench.options import Options
from bench.processes import free_port, running, wait_until_it_answers
from bench.shape import TRANSACTIONS
from scan.settings import ROOT

log = logging.getLogger(__name__)

# The library it asks for reads names that Python 3.11 has dropped; this one has the same interface.
PACKAGES = ("ethereum-etl==2.4.2", "cryo-python==0.3.0", "polars==2.1.0", "pyarrow==26.0.1")
INSTEAD = ("parsimonious==0.10.0", "regex==2026.11.15")
WORKERS = 2
CRYO = (
    "import os, sys, cryo; dataset, last, url, folder = sys.argv[1:];"
    "cryo.freeze([dataset], blocks=[f'0:{last}'], rpc=url, output_dir=folder, no_verbose=True);"
    "os._exit(0)"  # at whose end it crashes now and then
)
CRYO_DATASETS = ("blocks", "transactions", "logs")
SPOOL = (
    "import sys; from pathlib import Path; from scan.extensions.bulk.range_files import split;"
    "from scan.extensions.bulk.spool import RangeTask, spool_range;"
    "from scan.indexer.log_selection import NO_LOGS;"
    "traces, last, url, folder = sys.argv[1:];"
    "[spool_range(RangeTask((url,), '', traces, False, NO_LOGS, blocks), Path(folder))"
    " for blocks in split(0, int(last), 500)]"
)


def export(options: Options, node_url: str) -> dict[str, Any]:
    """ethereum-etl's whole export; {"skipped": why} where it cannot be installed or run."""
    folder = options.folder / "peers"
    last_block = options.ingest_blocks - 1
    return _measured(folder, last_block, lambda files: _etl(folder, files, node_url, last_block))


def exports(folder: Path, node_url: str, last_block: int, only: str) -> dict[str, Any]:
    exporters: dict[str, Callable[[Path], None]] = {
        "scan": lambda files: _spool(files, node_url, last_block, "off"),
        "scan, traces": lambda files: _spool(files, node_url, last_block, "auto"),
        "cryo": lambda files: _cryo(folder, files, node_url, last_block, CRYO_DATASETS),
        "cryo, traces": lambda files: _cryo(folder, files, node_url, last_block, ("traces",)),
        "ethereum-etl": lambda files: _etl(folder, files, node_url, last_block),
    }
    _install(folder)
    return {
        name: _measured(folder, last_block, run)
        for name, run in exporters.items()
        if re.search(only, name)
    }


def _measured(folder: Path, last_block: int, run: Callable[[Path], None]) -> dict[str, Any]:
    files = folder / "files"
    shutil.rmtree(files, ignore_errors=True)
    files.mkdir(parents=True)
    began, before = time.monotonic(), _children_s()
    try:
        run(files)
    except (OSError, subprocess.SubprocessError) as error:
        log.warning("an export is left out: %s", error)
        return {"skipped": str(error)}
    seconds = time.monotonic() - began
    transactions = (last_block + 1) * TRANSACTIONS
    return {
        "seconds": seconds,
        "transactions_per_s": transactions / seconds,
        "processor_microseconds": (_children_s() - before) / transactions * 1e6,
        "rows": {
            path.relative_to(files).as_posix(): _count(path)
            for path in sorted(files.rglob("*.csv"))
        },
        "bytes": sum(path.stat().st_size for path in files.rglob("*") if path.is_file()),
    }


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _install(folder: Path) -> Path:
    """The environment's commands; installed on the first run."""
    commands = folder / "venv" / "bin"
    if not (commands / "ethereumetl").exists():
        log.info("installing ethereum-etl and cryo")
        folder.mkdir(parents=True, exist_ok=True)
        pip = [str(commands / "python"), "-m", "pip", "install", "--quiet"]
        _run([sys.executable, "-m", "venv", str(folder / "venv")])
        _run([*pip, *PACKAGES])
        _run([*pip, "--no-deps", *INSTEAD])
    return commands


def _spool(files: Path, node_url: str, last_block: int, traces: str) -> None:
    """Scan's files of a bulk backfill, by one process."""
    _run([sys.executable, "-c", SPOOL, traces, str(last_block), node_url, str(files)])


def _cryo(
    folder: Path, files: Path, node_url: str, last_block: int, datasets: tuple[str, ...]
) -> None:
    python = str(_install(folder) / "python")
    for dataset in datasets:
        _run([python, "-c", CRYO, dataset, str(last_block + 1), node_url, str(files)])


def _etl(folder: Path, files: Path, node_url: str, last_block: int) -> None:
    command = str(_install(folder) / "ethereumetl")
    blocks, transactions = files / "blocks.csv", files / "transactions.csv"
    receipts, logs = files / "receipts.csv", files / "logs.csv"
    hashes, transfers = files / "hashes.txt", files / "token_transfers.csv"
    workers = f"--max-workers={WORKERS}"
    node = [f"--provider-uri={node_url}", workers]
    outputs = [f"--blocks-output={blocks}", f"--transactions-output={transactions}"]
    last = f"--end-block={last_block}"
    _run([command, "export_blocks_and_transactions", last, *node, *outputs])
    with transactions.open(newline="") as rows, hashes.open("w") as out:
        out.writelines(f"{row['hash']}\n" for row in csv.DictReader(rows))
    outputs = [f"--receipts-output={receipts}", f"--logs-output={logs}"]
    hash_file = f"--transaction-hashes={hashes}"
    _run([command, "export_receipts_and_logs", hash_file, *node, *outputs])
    inputs = [f"--logs={logs}", f"--output={transfers}"]
    _run([command, "extract_token_transfers", *inputs, workers])


def _run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise subprocess.SubprocessError(
            f"{Path(command[0]).name} failed: {done.stderr.strip()[-400:]}"
        )


def _count(path: Path) -> int:
    with path.open("rb") as lines:
        return sum(1 for _ in lines) - 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=200)
    parser.add_argument("--folder", type=Path, default=ROOT / "var" / "bench" / "peers")
    parser.add_argument("--only", default="", help="a regular expression")
    options = parser.parse_args()
    folder = options.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    made_hashes(HASHES, options.blocks)
    port = free_port()
    command = [sys.executable, "-m", "bench.node", f"--port={port}", "--traces=trace_block"]
    with running([*command, f"--blocks={options.blocks}"], folder / "node.log") as node:
        url = f"http://127.0.0.1:{port}"
        wait_until_it_answers(url, node, folder / "node.log")
        print(json.dumps(exports(folder, url, options.blocks - 1, options.only), indent=1))


if __name__ == "__main__":
    main()
