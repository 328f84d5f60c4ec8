"""`scan index` as operators run it: a process of its own, which a test may kill at any moment."""

import os
import signal
import subprocess
import sys
import tempfile

from scan.database.connection import Database
from scan.errors import ScanError
from tests.support import WAIT_S
from tests.support.forked_python import Forked
from tests.support.serving import ROOT, wait_until


class IndexerProcess:
    """Its output is kept over restarts, for whoever wants to know why."""

    command = (sys.executable, "-m", "scan", "index")

    def __init__(self, database_url, rpc_url, **environment):
        self._environment = os.environ | {
            "DATABASE_URL": database_url,
            "RPC_URL": rpc_url,
            **environment,
        }
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = None
        self._database = Database(database_url, statement_timeout_ms=10_000)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()
        self._database.close()
        self._output.close()

    def start(self):
        self._process = Forked(
            self.command,
            cwd=ROOT,
            env=self._environment,
            stdout=self._output,
            stderr=subprocess.STDOUT,
        )

    @property
    def pid(self):
        return self._process.pid

    def kill(self):
        """SIGKILL: nothing of it can tidy up."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def terminate(self, number=signal.SIGTERM):
        """SIGTERM, or SIGINT; the exit code."""
        self._process.send_signal(number)
        return self._process.wait(WAIT_S)

    def send_signal(self, number):
        os.kill(self.pid, number)

    def wait_for_output(self, text):
        wait_until(lambda: text in self.output(), told=self.tail)

    def output(self):
        self._output.seek(0)
        return self._output.read().decode(errors="replace")

    def wait_for(self, block_number, block_hash):
        """Until this very block is the newest one indexed and nothing waits to be read."""
        wait_until(lambda: self.has(block_number, block_hash), self._process, told=self.tail)

    def has(self, block_number, block_hash):
        try:
            head = self._database.row("indexer/blocks_get_head")
            stale = self._database.rows(
                "indexer/tokens_list_stale", limit=1, addresses=None, passed_over=[]
            )
        except ScanError:  # a server that is killed, too
            return False
        block = (head[0], "0x" + bytes(head[1]).hex()) if head else None
        return not stale and block == (block_number, block_hash)

    def tail(self):
        return "\n".join(self.output().splitlines()[-40:])
