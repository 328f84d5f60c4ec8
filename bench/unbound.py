"""The service's worker with its threads on all processors, as the kernel has them."""

from scan import processor_affinity
from scan.server.worker import Worker


class UnboundWorker(Worker):
    def init_process(self) -> None:
        processor_affinity.ALLOWED.clear()
        super().init_process()
