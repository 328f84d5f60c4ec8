"""The most memory that a process and its children have held."""

import threading
from contextlib import suppress
from pathlib import Path

import psutil

SAMPLE_S = 0.05


class PeakMemory:
    """Adds up VmHWM of every process of a family; those that have ended keep their last value."""

    def __init__(self, pid):
        self._pid = pid
        self._peaks = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="peak memory", daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    @property
    def mebibytes(self):
        self._sample()
        return sum(self._peaks.values()) // 2**20

    def _follow(self):
        while not self._stop.wait(SAMPLE_S):
            self._sample()

    def _sample(self):
        with suppress(psutil.NoSuchProcess):
            family = psutil.Process(self._pid)
            for process in (family, *family.children(recursive=True)):
                peak = _peak_bytes(process.pid)
                self._peaks[process.pid] = max(self._peaks.get(process.pid, 0), peak)


def _peak_bytes(pid):
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0].split()[1]) * 1024 if lines else 0
