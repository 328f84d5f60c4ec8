"""What runs beside serving: one comparison after another."""

from collections.abc import Iterable

from scan.extensions.equal_creations.contract_comparison import EqualCreations
from scan.http.services import Services
from scan.http.worker_thread import WorkerThread

POLL_S = 1.0


def threads(core: Services) -> Iterable[WorkerThread]:
    """Return a thread that compares what is requested; what failed is requested again later."""
    comparisons = core.sources.get(EqualCreations)

    def compare_next() -> bool:
        comparisons.compare_next(POLL_S)
        return True

    failure = "creations are not compared"
    return (WorkerThread("creations", compare_next, POLL_S, core.writes, failure),)
