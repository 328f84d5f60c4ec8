"""Load by wrk: requests a second, and how long they took."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

from bench.cases import Request
from bench.options import CONNECTIONS

SCRIPT = Path(__file__).with_name("requests.lua")
TIMEOUT_S = 120


class Measured(NamedTuple):
    """`sent`: requests, those without a response at the end included."""

    per_s: float
    p50_ms: float
    p99_ms: float
    failed: int
    sent: int


class Missing(Exception):
    """A program that the run needs."""


def require_wrk() -> None:
    if shutil.which("wrk") is None:
        raise Missing("wrk is needed: apt-get install wrk")


def ask(url: str, request: Request) -> bytes:
    """The body of the response; raises URLError unless its status is 200."""
    body = request.body.encode() or None
    headers = {"Content-Type": "application/json"} if body else {}
    http_request = HttpRequest(url + request.path, body, headers, method=request.method)
    with urlopen(http_request, timeout=TIMEOUT_S) as response:
        answer: bytes = response.read()
    return answer


def by_wrk(
    url: str, requests: Sequence[Request], seconds: int, folder: Path, first: int | None = None
) -> Measured:
    """The requests in turn on eight connections.

    With `first` requests are numbered from it, begin at that number in the list, and have their
    number as a parameter, so that no two are the same.
    """
    lines = folder / "requests.txt"
    lines.write_text("".join(f"{r.method}\t{r.path}\t{r.body}\n" for r in requests))
    command = ["wrk", "--threads=1", f"--connections={CONNECTIONS}", f"--duration={seconds}s"]
    command += [f"--timeout={TIMEOUT_S}s", f"--script={SCRIPT}", url, "--", str(lines)]
    command += [] if first is None else [str(first)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    line = json.loads(done.stdout.strip().splitlines()[-1])
    return Measured(
        line["requests"] / (line["duration_us"] / 1e6),
        line["p50_us"] / 1000,
        line["p99_us"] / 1000,
        line["failed"],
        line["sent"],
    )
