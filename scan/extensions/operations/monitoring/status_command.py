"""`scan status`: /readyz of a running service and its database's disk, as text or JSON."""

import argparse
import json
import re
import time
from datetime import datetime, timedelta
from typing import Any

from scan.commands import arguments, service_client
from scan.observability.logs import print_lines
from scan.settings import Settings

GIB = 1024**3
DAY_S = 86_400
TIMEOUT_S = 10
WATCH_EVERY_S = 2

DESCRIPTION = (
    "Reports whether a running service is ready, and how far it is behind the node. Exits 0 when"
    " healthy, else 1."
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.set_defaults(run=run)
    service_client.add_url(command)
    command.add_argument(
        "--most-behind",
        type=arguments.whole_number,
        metavar="BLOCKS",
        help="exit 1 when further behind the node",
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument(
        "--watch", action="store_true", help="print a line every 2 s, with the speed, until Ctrl-C"
    )


def run(settings: Settings, options: argparse.Namespace) -> int:
    """Print the status. Return 0 if the service is ready and follows the node, else 1."""
    base = service_client.service_url(settings, options)
    if options.watch:
        return _watch(settings, base)
    state = _fetch(settings, f"{base}/readyz")
    problem = state.get("problem")
    lag, max_lag = state.get("lagBlocks"), options.most_behind
    if not problem and max_lag is not None and (lag is None or lag > max_lag):
        problem = f"{_behind(lag)}; {max_lag} at most are wanted"
    disk = _fetch_disk(settings, f"{base}/metrics")
    if options.json:
        print_lines(json.dumps({**state, **disk, "problem": problem}))
        return 1 if problem else 0
    lines = [f"{base}: {_condition(state)}"]
    if "indexedBlock" in state:
        block = state["indexedBlock"]
        line = "no block is indexed yet" if block is None else f"block {block}"
        line += "" if state["headBlock"] is None else f" of {state['headBlock']}"
        reported = state["checkedAt"] or "never"
        lines.append(f"{line}, {_behind(lag)}; the indexer's last report: {reported}")
    if disk:
        line = f"disk of the database: {disk['diskFreeBytes'] / GIB:.0f} GiB free"
        days = disk["diskFullInDays"]
        lines.append(
            line if days is None else f"{line}, full in {days:,} days at the newest day's growth"
        )
    if backfill := state.get("backfill"):
        lines.append(_backfill_line(backfill))
    for blocks in state.get("unproven", ()):
        span = f"{blocks['firstBlock']} to {blocks['lastBlock']}"
        lines.append(f"not proven in blocks {span}: {blocks['reason']}")
    if blocks_in_all := state.get("unprovenBlocks"):
        lines.append(f"not proven: {blocks_in_all} blocks in all")
    if problem:
        lines.append(f"problem: {problem}")
    print_lines(*lines)
    return 1 if problem else 0


def _watch(settings: Settings, base: str) -> int:
    """Print the status until Ctrl-C. The speed is the average since the first line."""
    began_at, first_block = time.monotonic(), None
    try:
        while True:
            state = _fetch(settings, f"{base}/readyz")
            block, lag = state.get("indexedBlock"), state.get("lagBlocks")
            line = f"{datetime.now():%H:%M:%S} {_condition(state)}"
            if block is not None:
                first_block = block if first_block is None else first_block
                line += f"  block {block:,}, {_behind(lag)}"
                speed = (block - first_block) / max(time.monotonic() - began_at, 0.001)
                if lag and speed > 0:
                    left = timedelta(seconds=round(lag / speed))
                    line += f", {speed:,.1f} blocks/s, {left} left"
            if backfill := state.get("backfill"):
                line += f"  {_backfill_line(backfill)}"
            if state.get("problem"):
                line += f"  problem: {state['problem']}"
            print_lines(line)
            time.sleep(WATCH_EVERY_S)
    except KeyboardInterrupt:
        return 0


def _fetch_disk(settings: Settings, address: str) -> dict[str, Any]:
    """Return the figures of the database's disk; {} where /metrics cannot be read, or the disk is
    on another machine."""
    try:
        text = service_client.send(settings, address, TIMEOUT_S).body.decode(errors="replace")
    except service_client.NoResponse:
        return {}
    values = dict(re.findall(r"^scan_disk_(free_bytes|full_seconds) ([0-9.e+]+)$", text, re.M))
    if "free_bytes" not in values:
        return {}
    seconds = values.get("full_seconds")
    days = None if seconds is None else int(float(seconds) // DAY_S)
    return {"diskFreeBytes": int(float(values["free_bytes"])), "diskFullInDays": days}


def _condition(state: dict[str, Any]) -> str:
    """Return the service's own word, `ready`, only where the index follows the node."""
    status = str(state.get("status", "unknown"))
    return "serving, with a problem" if status == "ready" and state.get("problem") else status


def _behind(lag: int | None) -> str:
    return "how far behind is not known" if lag is None else f"{lag:,} blocks behind the node"


def _backfill_line(backfill: dict[str, Any]) -> str:
    line = f"bulk backfill: stage {backfill['stage']}"
    if backfill["progress"] is not None:
        line += f", {100 * backfill['progress']:.1f} % of the whole"
    if backfill["secondsLeft"] is not None:
        line += f", about {timedelta(seconds=backfill['secondsLeft'])} left"
    return line


def _fetch(settings: Settings, address: str) -> dict[str, Any]:
    try:
        response = service_client.send(settings, address, TIMEOUT_S)
    except service_client.NoResponse as error:
        return {"status": "unreachable", "problem": error.message}
    problem = f"the service returned HTTP {response.status} without JSON"
    return response.json() or {"status": "unavailable", "problem": problem}
