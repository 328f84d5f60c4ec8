"""A second process that fetches and extracts blocks, from the side of the one that asks it.

Both ends of one socket: spans of blocks go out, extracts or the reason against them come in, in
order. When the socket closes, the process ends at once, however this one came to its end.
"""

import socket
import subprocess
import sys
import threading
from collections import deque
from concurrent.futures import Future
from multiprocessing.connection import Connection
from typing import NamedTuple

from scan.errors import Unavailable
from scan.indexer.block_rows import Extract
from scan.observability import metrics
from scan.settings import ROOT, Settings

START_S = 15.0
END_S = 5.0


class NotStarted(Exception):
    """This machine lets no second process come up."""


class Ended(Unavailable):
    """The second process is gone, and what it was asked for with it."""


class Answer(NamedTuple):
    """To a span: its blocks, or why they could not be had; and what was asked of the node."""

    blocks: list[Extract]
    error: Exception | None
    notes: list[metrics.RpcNote]


class FetchProcess:
    """Runs from its making, which raises NotStarted, to close()."""

    def __init__(self, settings: Settings) -> None:
        ours, theirs = socket.socketpair()
        self._connection = Connection(ours.detach())
        with theirs:
            self._process = self._start(theirs.fileno())
        self._lock = threading.Lock()
        self._asked: deque[Future[list[Extract]]] = deque()
        self._is_over = False
        self._greet(settings)
        self._receiver = threading.Thread(target=self._receive, name="fetched", daemon=True)
        self._receiver.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_over(self) -> bool:
        return self._is_over

    def submit(self, first: int, last: int) -> "Future[list[Extract]]":
        """Blocks first..last. The future raises what BlockSource.blocks() does, or Ended."""
        future: Future[list[Extract]] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            if self._is_over or not self._send((first, last)):
                future.set_exception(self._ended())
            else:
                self._asked.append(future)
        return future

    def close(self) -> None:
        """End it, whatever it is doing: it holds nothing that would want to be put in order."""
        self._process.kill()
        self._receiver.join()
        self._connection.close()

    def _start(self, fd: int) -> "subprocess.Popen[bytes]":
        # A group of its own: a terminal's Ctrl-C reaches ours, and this one ends with us.
        try:
            return subprocess.Popen(
                [sys.executable, "-m", "scan.indexer.prefetch_worker", str(fd)],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                pass_fds=[fd],
                process_group=0,
            )
        except OSError as error:
            self._connection.close()
            raise NotStarted(error.strerror or str(error)) from error

    def _greet(self, settings: Settings) -> None:
        """It gets the settings as a message, since they hold what no command line may show."""
        try:
            if not self._send(settings) or not self._connection.poll(START_S):
                raise EOFError
            self._connection.recv()
        except (EOFError, OSError):
            self._connection.close()
            raise NotStarted(f"it ended with {self._reap()}") from None

    def _send(self, message: object) -> bool:
        try:
            self._connection.send(message)
        except OSError:
            return False
        return True

    def _receive(self) -> None:
        try:
            while True:
                answer: Answer = self._connection.recv()
                for note in answer.notes:
                    metrics.count_rpc(note)
                with self._lock:
                    future = self._asked.popleft()
                if answer.error is None:
                    future.set_result(answer.blocks)
                else:
                    future.set_exception(answer.error)
        except (EOFError, OSError):
            pass
        finally:
            self._reap()
            with self._lock:
                self._is_over = True
                for future in self._asked:
                    future.set_exception(self._ended())

    def _reap(self) -> int:
        """Its exit code; a process that has closed the socket and yet lives on is killed."""
        try:
            return self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def _ended(self) -> Ended:
        return Ended(f"the process that fetches blocks ended with {self._process.returncode}")
