"""Clients over bare sockets, and what a server's worker holds."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest


@pytest.fixture
def clients() -> Iterator[ExitStack]:
    """Closes what a test has connected."""
    with ExitStack() as stack:
        yield stack


def workers(process: "subprocess.Popen[bytes]") -> list[str]:
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def peak_mib(process: "subprocess.Popen[bytes]") -> int:
    """The most that the worker has ever held."""
    [worker] = workers(process)
    [kib] = re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{worker}/status").read_text())
    return int(kib) // 1024
