"""Comparison of the creations of contracts that have a verified contract's runtime code.

A row of creation_comparisons tells a contract with the same creation code from one that is similar
in its runtime code alone.
"""

import queue
import threading
import time
from collections.abc import Hashable
from contextlib import suppress

import orjson

from scan.database.connection import Database
from scan.ethereum.sized_cache import SizedCache
from scan.rate_limits.turns import WaitingThreads
from scan.verification.creation_comparison import are_constructor_arguments
from scan.verification.creation_reader import CreationReader

MAX_WAITING = 1_000
MAX_OF_ONE_CODE = 100  # contracts that are compared when their code is verified
WAIT_S = 1.0  # of a request, so that the first who looks at a contract sees the result
UNKNOWN_S = 60.0  # after which a creation that the node did not give is read again
_UNKNOWN_BYTES = 256 * 1024
_ENTRY_BYTES = 200


class EqualCreations:
    """Compares one contract after another, in a thread of the process that runs jobs."""

    def __init__(
        self, database: Database, creations: CreationReader, waiting_threads: WaitingThreads
    ) -> None:
        self._database = database
        self._waiting_threads = waiting_threads
        self._creations = creations
        self._waiting: queue.Queue[tuple[bytes, threading.Event] | None] = queue.Queue(MAX_WAITING)
        self._unknown_since: SizedCache[float] = SizedCache(_UNKNOWN_BYTES)

    def request(self, address: bytes, client: Hashable) -> bool:
        """Have a contract compared, unless that was requested within UNKNOWN_S. Return whether it
        was compared within WAIT_S; at once where no place is free to wait in."""
        since = self._unknown_since.get(address)
        if since is not None and time.monotonic() - since < UNKNOWN_S:
            return False
        self._unknown_since.store(address, time.monotonic(), _ENTRY_BYTES)
        done = self._add(address)
        if not self._waiting_threads.take_for_long(client):
            return False
        try:
            return done.wait(WAIT_S)
        finally:
            self._waiting_threads.give_back(client)

    def request_all_of(self, code_hash: bytes) -> None:
        """Have up to MAX_OF_ONE_CODE contracts with a code compared soon."""
        rows = self._database.rows(
            "verification/contracts_list_same_code", code_hash=code_hash, limit=MAX_OF_ONE_CODE
        )
        for (address,) in rows:
            self._add(bytes(address))

    def _add(self, address: bytes) -> threading.Event:
        """Add a contract to the queue, and return the event that is set once it is compared."""
        done = threading.Event()
        with suppress(queue.Full):  # a later request adds it
            self._waiting.put_nowait((address, done))
        return done

    def compare_next(self, timeout_s: float) -> None:
        """Compare the contract that has waited longest, if one comes within `timeout_s` and before
        wake() is called."""
        try:
            entry = self._waiting.get(timeout=timeout_s)
        except queue.Empty:
            return
        if entry is None:
            return
        address, done = entry
        try:
            self._compare(address)
        finally:
            done.set()

    def wake(self) -> None:
        """End the wait of compare_next()."""
        with suppress(queue.Full):  # then it does not wait
            self._waiting.put_nowait(None)

    def _compare(self, address: bytes) -> None:
        row = self._database.row("verification/creations_get_comparable_pair", address=address)
        if row is None:
            return
        code_hash, block_number, verifier, verified_block, argument_bytes, abi = row
        verified = self._creations.input_of(bytes(verifier), verified_block)
        creation = self._creations.input_of(address, block_number)
        if verified is None or creation is None:
            return
        length = len(verified) - argument_bytes
        arguments = creation[length:]
        is_equal = creation[:length] == verified[:length] and are_constructor_arguments(
            orjson.loads(abi), arguments
        )
        self._database.rows(
            "verification/creation_comparisons_put",
            address=address,
            code_hash=bytes(code_hash),
            verifier=bytes(verifier),
            is_equal=is_equal,
            constructor_arguments=arguments if is_equal else None,
        )
