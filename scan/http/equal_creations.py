"""What runs beside serving: one comparison of creations after another."""

from collections.abc import Iterable

from scan.http.services import Services
from scan.http.worker_thread import WorkerThread

POLL_S = 1.0


def threads(core: Services) -> Iterable[WorkerThread]:
    """Return a thread that compares what is requested; what failed is requested again later."""

    creations = core.sources.equal_creations

    def compare_next() -> bool:
        creations.compare_next(POLL_S)
        return True

    failure = "creations are not compared"
    return (
        WorkerThread("creations", compare_next, POLL_S, core.writes, failure, wake=creations.wake),
    )
