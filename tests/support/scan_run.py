"""`scan run` as a person starts it: in a folder of its own, until the context ends."""

import os
import subprocess
from contextlib import contextmanager

import requests

from tests.support import POLL_S
from tests.support.serving import free_port, stop, wait_until

START_TIMEOUT_S = 240.0


class ScanRun:
    """`port` is the service's, `folder` has its data and output."""

    def __init__(self, process, port, folder):
        self.process = process
        self.port = port
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}"

    def output(self):
        return (self.folder / "output").read_text(errors="replace")

    def ready(self):
        """What /readyz answers; empty while nothing does."""
        try:
            return dict(requests.get(f"{self.url}/readyz", timeout=POLL_S).json())
        except requests.RequestException:
            return {}

    def wait_for_block(self, number, *, or_later=False):
        def is_there():
            indexed = self.ready().get("indexedBlock")
            return indexed == number or bool(or_later and indexed and indexed > number)

        wait_until(is_there, self.process, START_TIMEOUT_S, told=self.output)


@contextmanager
def scan_run(command, folder, *options, **environment):
    """`command` with `run`, its data under `folder`, at a free port."""
    port = free_port()
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    given = {"PORT": str(port), "SCAN_DATA_DIR": str(folder / "var"), **environment}
    with (folder / "output").open("wb") as file:
        process = subprocess.Popen(
            [*command, "run", *options], cwd=folder, env=kept | given, stdout=file, stderr=file
        )
    try:
        yield ScanRun(process, port, folder)
    finally:
        stop(process)
