"""A worker in which happens what seldom does."""

import math

from scan import processor_affinity
from scan.server.worker import Worker


class BoundWorker(Worker):
    """Binds its threads to one processor however busy the machine is."""

    def init_process(self):
        processor_affinity.MAX_LOAD = math.inf
        super().init_process()
