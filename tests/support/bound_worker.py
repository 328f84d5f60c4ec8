"""A worker that binds its threads to one processor however busy the machine is."""

import math

from scan.rate_limits import cpu_affinity
from scan.server.worker import Worker


class BoundWorker(Worker):
    def init_process(self) -> None:
        cpu_affinity.MAX_LOAD = math.inf
        super().init_process()
