"""Asks a replica for its version often, since notifications do not reach one."""

import logging
import os
import threading
import time

from scan.errors import ScanError
from scan.http.index_version import IndexVersion
from scan.http.indexed_block import IndexedBlock

log = logging.getLogger(__name__)

POLL_EVERY_S = 0.025  # a quarter of how long cached responses are served after one of them


class ReplicaPoller:
    """One thread of a process, which reads while cached responses are asked for."""

    def __init__(self, indexed_block: IndexedBlock, index_version: IndexVersion) -> None:
        self._indexed_block = indexed_block
        self._index_version = index_version
        self._lock = threading.Lock()
        self._process = 0

    def start(self) -> None:
        """Once a process: threads do not survive a fork."""
        if self._process == os.getpid():
            return
        with self._lock:
            if self._process != os.getpid():
                self._process = os.getpid()
                threading.Thread(target=self._run, name="replica-poller", daemon=True).start()

    def _run(self) -> None:
        while True:
            time.sleep(POLL_EVERY_S)
            if self._index_version.is_idle:
                continue
            try:
                self._indexed_block.read()
            except ScanError as error:
                log.debug("the replica cannot be read: %s", error)
