"""What runs beside serving: the check that the node serves the chain of the index, which /readyz
reports also where no request needs the node."""

from collections.abc import Iterable

from scan.http.services import Services
from scan.http.worker_thread import WorkerThread

EVERY_S = 30.0


def threads(core: Services) -> Iterable[WorkerThread]:
    def check() -> bool:
        core.sources.gateway.check_chains()
        return False

    return (WorkerThread("node-check", check, EVERY_S, core.writes, "the node is not checked"),)
