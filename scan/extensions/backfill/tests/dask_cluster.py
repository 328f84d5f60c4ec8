"""A scheduler of dask.distributed and its workers, each a process, with certificates."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack

from scan.extensions.backfill.resources import Cluster
from tests.support import WAIT_S
from tests.support.serving import ROOT, wait_until

MAKE_CERTIFICATES = ROOT / "deploy" / "bulk" / "make-certificates"
ENDED_S = 20.0  # after which a worker without its scheduler ends


class DaskCluster:
    """One process a worker, so that killing it is as the loss of a machine."""

    def __init__(self, folder):
        self._folder = folder
        self._processes = ExitStack()
        self._files = certificates(folder)
        self._address_file = folder / "scheduler.json"
        self.workers = []
        self._start("scheduler", "--port=0", "--protocol=tls", "--no-dashboard", "--no-show")
        wait_until(lambda: self._address_file.exists() and self._address_file.read_text().strip())
        self.address = json.loads(self._address_file.read_text())["address"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._processes.close()

    def add_worker(self, **environment):
        """Start a worker; it is there a second or two later."""
        options = ("--no-nanny", "--nthreads=1", "--no-dashboard", f"--death-timeout={ENDED_S:.0f}")
        folder = f"--local-directory={self._folder / str(len(self.workers))}"
        self.workers.append(self._start("worker", *options, folder, **environment))
        return self.workers[-1]

    def settings(self, files):
        return Cluster(self.address, files, *map(str, self._files))

    def _start(self, *arguments, **environment):
        ca, certificate, key = self._files
        options = (f"--tls-ca-file={ca}", f"--tls-cert={certificate}", f"--tls-key={key}")
        command = [sys.executable, "-m", "dask", *arguments]
        process = subprocess.Popen(
            [*command, *options, f"--scheduler-file={self._address_file}"],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
            stderr=(self._folder / f"{arguments[0]}.log").open("ab"),
        )
        self._processes.callback(process.wait, WAIT_S)
        self._processes.callback(process.kill)
        return process


def certificates(folder):
    """The authority's certificate, and one with its key for all."""
    subprocess.run([MAKE_CERTIFICATES, folder, "all"], check=True, timeout=WAIT_S)
    return folder / "ca.crt", folder / "all" / "own.crt", folder / "all" / "own.key"
