"""Keeps the threads of a worker on one processor.

Python runs one of them at a time. Spread over several processors, a thread that becomes able to run
wakes another processor, only to wait there for the interpreter's lock: on two processors a request
that runs Flask took 25 futex calls instead of 7, and a worker answered a fifth to a third fewer.
"""

import os
from contextlib import suppress
from pathlib import Path

CHOOSE_EVERY_S = 10.0  # since other processes may need the processor

_PROCESS = Path("/proc/self")


class OneProcessor:
    """Confines a process to the processor on which the kernel runs its main thread."""

    def __init__(self) -> None:
        is_linux = hasattr(os, "sched_setaffinity")
        self._allowed = os.sched_getaffinity(0) if is_linux else set()
        self._chosen_at = float("-inf")
        self._is_free = True

    def check(self, now: float) -> None:
        """Confine the threads, or free them every CHOOSE_EVERY_S for the kernel to move them.

        Call it about twice a second: free threads are confined again by the next call.
        """
        if len(self._allowed) < 2:
            return
        if self._is_free:
            self._chosen_at = now
            self._confine({_last_processor()} & self._allowed or self._allowed)
            self._is_free = False
        elif now - self._chosen_at >= CHOOSE_EVERY_S:
            self._confine(self._allowed)
            self._is_free = True

    def _confine(self, processors: set[int]) -> None:
        for thread in (_PROCESS / "task").iterdir():
            with suppress(OSError):  # it has ended, or the processor was taken from the process
                os.sched_setaffinity(int(thread.name), processors)


def _last_processor() -> int:
    """Return the main thread's processor: field 39 of proc_pid_stat(5); field 2 has brackets."""
    return int((_PROCESS / "stat").read_text().rpartition(")")[2].split()[36])
