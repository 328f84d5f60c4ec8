"""Reads a replica's version often, since replicas receive no notifications."""

import logging
import os
import threading
import time

from scan.errors import ScanError
from scan.http.index_version import IndexVersion
from scan.http.indexed_block import IndexedBlock

log = logging.getLogger(__name__)

POLL_EVERY_S = 0.025  # a quarter of UNVERIFIED_ON_REPLICA_S, the age of a version in use


class ReplicaPoller:
    """Reads the version in a thread of its own, while cached responses are requested."""

    def __init__(self, indexed_block: IndexedBlock, index_version: IndexVersion) -> None:
        self._indexed_block = indexed_block
        self._index_version = index_version
        self._lock = threading.Lock()
        self._process = 0

    def start(self) -> None:
        """Start the thread once a process: threads do not survive a fork."""
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
