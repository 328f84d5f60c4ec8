"""The calls that other threads, and signal handlers, hand to the worker's loop.

None is lost: a byte in the pipe says that there are calls, not how many. gunicorn's own queue
writes a byte a call, for which a thread gives up the interpreter each time, and which a full pipe
does not take; and it runs at most 60 calls for what it reads.
"""

import os
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

MOST_READ = 64 * 1024  # as much as the pipe holds
RUN_S = 0.05  # after which it is the turn of the loop's other events


class DeferredCalls:
    """A queue in place of gunicorn's PollableMethodQueue, with the same methods."""

    def __init__(self) -> None:
        self._calls: deque[Callable[[], object]] = deque()
        self._read_end = self._write_end = -1
        self._will_run = False  # a byte is in the pipe, or the loop has read it, and runs all calls

    def init(self) -> None:
        self._will_run = False
        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        os.set_blocking(self._write_end, False)

    def close(self) -> None:
        ends = self._read_end, self._write_end
        self._read_end = self._write_end = -1
        for end in ends:
            os.close(end)

    def fileno(self) -> int:
        return self._read_end

    def defer(self, call: Callable[..., object], *args: Any) -> None:
        self._calls.append(partial(call, *args))
        self._wake()

    def _wake(self) -> None:
        if self._will_run:
            return
        self._will_run = True
        with suppress(OSError):  # the worker has ended
            os.write(self._write_end, b"w")

    def run_callbacks(self, _file: object) -> None:
        """Run the calls that were deferred before; what they defer waits for the next round."""
        with suppress(BlockingIOError):
            os.read(self._read_end, MOST_READ)
        self._will_run = False  # before the calls are counted: one that is added meanwhile is run
        ends_at = time.monotonic() + RUN_S
        try:
            for _ in range(len(self._calls)):
                self._calls.popleft()()
                if time.monotonic() > ends_at:
                    break
        finally:
            if self._calls:
                self._wake()
