"""The service's worker with its threads on all processors, as the kernel has them."""

from scan import processors
from scan.server.worker import Worker


class UnboundWorker(Worker):
    def init_process(self) -> None:
        processors.ALLOWED.clear()
        super().init_process()
