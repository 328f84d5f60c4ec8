"""The most memory that a process and its children have held."""

import re
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
            for pid in (p.pid for p in (family, *family.children(recursive=True))):
                with suppress(OSError):
                    status = Path(f"/proc/{pid}/status").read_text()
                    for kibibytes in re.findall(r"^VmHWM:\s+(\d+) kB", status, re.M):
                        self._peaks[pid] = max(self._peaks.get(pid, 0), int(kibibytes) * 1024)
