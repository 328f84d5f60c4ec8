"""What runs beside serving: build folders are watched."""

from collections.abc import Iterable

from scan.extensions.contract_details.builds.build_watch import Builds, BuildWatch
from scan.extensions.contract_details.builds.settings import Settings
from scan.http.hooks import Worker
from scan.http.services import Services
from scan.http.worker_thread import WorkerThread

EVERY_S = 0.5


def threads(core: Services) -> Iterable[WorkerThread]:
    if not core.settings.of(Settings).artifacts:
        return ()
    watch = BuildWatch(core.sources.get(Builds), core.writes, core.verifier)
    failure = "builds are not compared"
    return (WorkerThread("builds", watch.step, EVERY_S, core.writes, failure),)


HOOKS = Worker(threads=threads)
