"""What runs beside serving: comparisons of creations."""

from collections.abc import Iterable

from scan.http.services import Services
from scan.http.worker_thread import WorkerThread
from scan.verification.equal_creations import EqualCreations

POLL_S = 1.0


def threads(core: Services) -> Iterable[WorkerThread]:
    comparing = EqualCreations(core.writes, core.verifier.creations)
    failure = "creations are not compared"
    return (WorkerThread("creations", comparing.step, POLL_S, core.writes, failure),)
