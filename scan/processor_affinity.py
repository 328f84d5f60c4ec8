"""The processor that a worker keeps its threads on.

Python runs one thread of a process at a time. Spread over two processors, a thread that becomes
able to run wakes the other processor, only to wait there for the interpreter's lock: a request that
runs Flask took 25 futex calls instead of 7, and a worker served 0.58 of the uncached pages, also
with two threads. The kernel cannot know that; so threads are bound, and what they start is not.
"""

import os
from contextlib import suppress
from pathlib import Path

# At import, before threads are bound: within the cpuset of a container, or what taskset allows.
ALLOWED: set[int] = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()

# Other processes, such as another worker, may need the processor: for a moment the kernel may move
# the threads to another one.
CHOOSE_EVERY_S, CHOOSE_FOR_S = 10.0, 0.05
# A processor. Threads of a busier machine take whichever becomes free: at a load of 22 to 30 on two
# processors a worker served 8 to 17 % fewer requests with its own.
MAX_LOAD = 4.0

_PROCESS = Path("/proc/self")


class OneProcessor:
    """Binds a process to the processor on which the kernel runs its main thread."""

    def __init__(self) -> None:
        self._is_bound = False
        self._check_at = float("-inf")

    def check(self, now: float) -> None:
        """Bind the threads, or free them for a moment. The worker's loop calls this each time."""
        if now < self._check_at or len(ALLOWED) < 2:
            return
        if self._is_bound:
            _bind(ALLOWED)
            self._is_bound, self._check_at = False, now + CHOOSE_FOR_S
            return
        if os.getloadavg()[0] <= MAX_LOAD * (os.cpu_count() or 1):
            # That of the main thread: field 39 of proc_pid_stat(5); field 2 has brackets.
            processor = int((_PROCESS / "stat").read_text().rpartition(")")[2].split()[36])
            _bind({processor} & ALLOWED)
            self._is_bound = True
        self._check_at = now + CHOOSE_EVERY_S


def use_all() -> None:
    """Let this thread, and what it starts from now on, use all processors."""
    if ALLOWED:
        with suppress(OSError):  # they were taken from the process
            os.sched_setaffinity(0, ALLOWED)


def _bind(processors: set[int]) -> None:
    for thread in (_PROCESS / "task").iterdir():
        with suppress(OSError):  # it has ended, or the processors were taken from the process
            os.sched_setaffinity(int(thread.name), processors)
