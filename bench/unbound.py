"""The service's worker with its threads on all processors, as the kernel has them."""

from scan.rate_limits import concurrency
from scan.server.worker import Worker


class UnboundWorker(Worker):
    def init_process(self) -> None:
        concurrency.ALLOWED.clear()
        super().init_process()
