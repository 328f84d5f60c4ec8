"""A worker that binds its threads to one processor however busy the machine is."""

import math

from scan.rate_limits import concurrency
from scan.server.worker import Worker


class BoundWorker(Worker):
    def init_process(self):
        concurrency.MAX_LOAD = math.inf
        super().init_process()
