"""Load by wrk, and the same statements by pgbench: requests a second, and how long they took."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

from bench.cases import Request
from bench.options import CONNECTIONS

SCRIPT = Path(__file__).with_name("requests.lua")
TIMEOUT_S = 120
SLOW_S = 0.8  # from here on one request at a time is asked, since wrk would see none finished
MAX_SCRIPTS = 10  # planned once each on every connection, which must not fill the second


class Measured(NamedTuple):
    """Latencies in milliseconds; by pgbench p50 is the mean, and there is no p99."""

    per_s: float
    p50_ms: float
    p99_ms: float | None
    failed: int = 0
    one_at_a_time: bool = False
    sent: int = 0  # by wrk, those without a response at the end included


class Missing(Exception):
    """A program that the run needs."""


def require_wrk() -> None:
    if shutil.which("wrk") is None:
        raise Missing("wrk is needed: apt-get install wrk")


def ask(url: str, request: Request) -> tuple[bytes, float]:
    """The answer and how many seconds it took; raises URLError unless its status is 200."""
    body = request.body.encode() or None
    headers = {"Content-Type": "application/json"} if body else {}
    http_request = HttpRequest(url + request.path, body, headers, method=request.method)
    began = time.perf_counter()
    with urlopen(http_request, timeout=TIMEOUT_S) as response:
        answer = response.read()
    return answer, time.perf_counter() - began


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
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return Measured(
        found["requests"] / (found["duration_us"] / 1e6),
        found["p50_us"] / 1000,
        found["p99_us"] / 1000,
        found["failed"],
        sent=found["sent"],
    )


def one_at_a_time(url: str, request: Request) -> Measured:
    """For answers that take longer than a measurement."""
    try:
        _, seconds = ask(url, request)
    except (URLError, TimeoutError):
        return Measured(1 / TIMEOUT_S, TIMEOUT_S * 1000, None, 1, True)
    return Measured(1 / seconds, seconds * 1000, None, 0, True)


def by_pgbench(
    program: Path, url: str, statements: Sequence[str], seconds: int, folder: Path, clients: int
) -> Measured:
    """The statements as they are, each planned once for a connection, as the service has it."""
    scripts = folder / "pgbench"
    shutil.rmtree(scripts, ignore_errors=True)
    scripts.mkdir()
    command = [str(program), "--no-vacuum", "--protocol=prepared", f"--client={clients}"]
    command += ["--jobs=1", f"--time={seconds}"]
    for number, statement in enumerate(statements[:MAX_SCRIPTS]):
        script = scripts / f"{number}.sql"
        script.write_text(f"{statement}\n;\n")  # in lines, since some end in a comment
        command.append(f"--file={script}")
    done = subprocess.run([*command, url], capture_output=True, text=True, check=True)
    per_s = float(_found(r"tps = ([0-9.]+)", done.stdout))
    mean_ms = float(_found(r"latency average = ([0-9.]+) ms", done.stdout))
    failed = int(_found(r"number of failed transactions: ([0-9]+)", done.stdout))
    return Measured(per_s, mean_ms, None, failed)


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise ValueError(f"pgbench prints nothing that matches {pattern!r}:\n{text}")
    return match[1]
