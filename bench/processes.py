"""Processes that a run starts on loopback ports, and stops whatever happens."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import orjson

from scan.settings import ROOT

START_S = 60.0
STOP_S = 20.0


class StartFailed(Exception):
    """A process that did not answer; the message holds the end of its log."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(
    command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
) -> Iterator["subprocess.Popen[bytes]"]:
    """The process, stopped by SIGTERM at the end; its output goes to `log`."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | dict(environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield process
        finally:
            stop(process)


class Server(NamedTuple):
    url: str
    pid: int


@contextmanager
def server(
    arguments: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """`python -m` with the arguments, in which PORT stands for a free port of loopback that is in
    the environment, too, once it answers. Raises StartFailed."""
    port = free_port()
    command = [part.replace("PORT", str(port)) for part in arguments]
    address = {"HOST": "127.0.0.1", "PORT": str(port)}
    with running(
        [sys.executable, "-m", *command], log, {**(environment or {}), **address}
    ) as process:
        url = f"http://127.0.0.1:{port}"
        wait_until_it_answers(f"{url}/healthz", process, log)
        yield Server(url, process.pid)


def stop(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until_it_answers(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Any HTTP answer will do; raises StartFailed after a minute or when the process ends."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urlopen(url, timeout=5).close()
            return
        except HTTPError:
            return
        except (URLError, OSError):
            time.sleep(0.1)
    end = log.read_text(encoding="utf-8", errors="replace")[-2000:]
    raise StartFailed(f"{url} does not answer; the end of {log}:\n{end}")


def post(url: str, method: str, *params: object) -> bytes:
    """The answer to a call of JSON-RPC."""
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    request = Request(url, orjson.dumps(call), {"Content-Type": "application/json"})
    with urlopen(request) as response:
        answer: bytes = response.read()
    return answer


def resident_bytes(pid: int) -> int:
    """How much memory a process holds now; 0 when it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    for line in status.splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def processor_seconds(pid: int) -> float:
    """User and system time that a process has had, with its children that ended; 0 when gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / float(os.sysconf("SC_CLK_TCK"))


def family(pid: int) -> list[int]:
    """A process and all that it has begun, and these in turn."""
    try:
        tasks = [*Path(f"/proc/{pid}/task").iterdir()]
        children = [int(child) for task in tasks for child in _words(task / "children")]
    except OSError:
        return [pid]
    return [pid, *(process for child in children for process in family(child))]


def server_process(cursor: Any) -> int:
    """The PostgreSQL server behind a connection."""
    cursor.execute("SELECT pg_backend_pid()")
    [backend] = cursor.fetchone()
    return int(Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()[1])


def _words(path: Path) -> list[str]:
    return path.read_text(encoding="ascii").split()
