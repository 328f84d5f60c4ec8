"""`scan status`: what /readyz of a running service reports, for people and for scripts."""

import argparse
import json
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from scan.settings import Settings

TIMEOUT_S = 10


def run(settings: Settings, options: argparse.Namespace) -> int:
    """0 where it serves and follows the node, 1 where it does not; prints why."""
    base = (options.url or settings.base_url).rstrip("/")
    state = _ask(f"{base}/readyz")
    problem = state.get("problem") or _lag_problem(state, options.most_behind)
    if options.json:
        print(json.dumps({**state, "problem": problem}))
    else:
        print(_sentence(base, state, problem))
    return 1 if problem else 0


def _ask(address: str) -> dict[str, Any]:
    try:
        with urlopen(address, timeout=TIMEOUT_S) as answer:
            return dict(json.load(answer))
    except HTTPError as error:
        try:
            return dict(json.load(error))
        except ValueError:
            return {"status": "unavailable", "problem": f"the service returned HTTP {error.code}"}
    except (URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        return {"status": "unreachable", "problem": f"no response from {address} ({reason})"}


def _lag_problem(state: dict[str, Any], most_behind: int | None) -> str | None:
    lag = state.get("lagBlocks") or 0
    if most_behind is not None and lag > most_behind:
        return f"the index is {lag} blocks behind the node, more than {most_behind}"
    return None


def _sentence(base: str, state: dict[str, Any], problem: str | None) -> str:
    lines = [f"{base}: {state['status']}"]
    if state.get("indexedBlock") is not None:
        lines.append(
            f"block {state['indexedBlock']} of {state['headBlock']},"
            f" {state['lagBlocks']} behind; status recorded at {state['checkedAt']}"
        )
    if problem:
        lines.append(f"problem: {problem}")
    return "\n".join(lines)
