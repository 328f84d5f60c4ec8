"""PyPI's ethereum-etl on the same node: blocks, transactions, receipts, logs and transfers as CSV.

It only writes files: no indexes, no counters, no reorganisations. Its old pins need a virtual
environment of its own.
"""

import csv
import logging
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.options import Options
from bench.processes import ROOT

log = logging.getLogger(__name__)

# The library it asks for reads names that Python 3.11 has dropped; this one has the same interface.
PACKAGES = ("ethereum-etl==2.4.2",)
INSTEAD = ("parsimonious==0.10.0", "regex==2026.11.15")
WORKERS = 2


def export(options: Options, node_url: str) -> dict[str, Any]:
    """Seconds for the whole export; {"skipped": why} where it cannot be installed or run."""
    folder = options.folder / "ethereum-etl"
    try:
        command = _installed(folder)
        began = time.monotonic()
        _export(command, folder, node_url, options.ingest_blocks - 1)
    except (OSError, subprocess.SubprocessError) as error:
        log.warning("ethereum-etl is left out: %s", error)
        return {"skipped": str(error)}
    seconds = time.monotonic() - began
    return {
        "seconds": seconds,
        "transactions_per_s": options.ingest_blocks * 150 / seconds,
        "rows": {path.name: _count(path) for path in sorted(folder.glob("*.csv"))},
    }


def _installed(folder: Path) -> Path:
    """The command; installed on the first run."""
    command = folder / "venv" / "bin" / "ethereumetl"
    if not command.exists():
        log.info("installing ethereum-etl")
        folder.mkdir(parents=True, exist_ok=True)
        python = folder / "venv" / "bin" / "python"
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([sys.executable, "-m", "venv", str(folder / "venv")])
        _run([*pip, *PACKAGES])
        _run([*pip, "--no-deps", *INSTEAD])
    return command


def _export(command: Path, folder: Path, node_url: str, last_block: int) -> None:
    blocks, transactions = folder / "blocks.csv", folder / "transactions.csv"
    receipts, logs = folder / "receipts.csv", folder / "logs.csv"
    hashes, transfers = folder / "hashes.txt", folder / "token_transfers.csv"
    workers = f"--max-workers={WORKERS}"
    node = [f"--provider-uri={node_url}", workers]
    outputs = [f"--blocks-output={blocks}", f"--transactions-output={transactions}"]
    last = f"--end-block={last_block}"
    _run([str(command), "export_blocks_and_transactions", last, *node, *outputs])
    with transactions.open(newline="") as rows, hashes.open("w") as out:
        out.writelines(f"{row['hash']}\n" for row in csv.DictReader(rows))
    outputs = [f"--receipts-output={receipts}", f"--logs-output={logs}"]
    hash_file = f"--transaction-hashes={hashes}"
    _run([str(command), "export_receipts_and_logs", hash_file, *node, *outputs])
    files = [f"--logs={logs}", f"--output={transfers}"]
    _run([str(command), "extract_token_transfers", *files, workers])


def _run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise subprocess.SubprocessError(
            f"{Path(command[0]).name} failed: {done.stderr.strip()[-400:]}"
        )


def _count(path: Path) -> int:
    with path.open("rb") as lines:
        return sum(1 for _ in lines) - 1
