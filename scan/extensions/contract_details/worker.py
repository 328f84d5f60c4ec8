"""What runs beside serving: build folders are watched.

What runs beside serving: sources are kept for chains that begin anew.

What runs beside serving: contracts of verified factories are submitted.

What runs beside serving: jobs.
"""

from collections.abc import Iterable

from scan.extensions.contract_details.builds.build_watch import Builds, BuildWatch
from scan.extensions.contract_details.builds.settings import Settings
from scan.extensions.contract_details.contract_import.importer import KeptSources
from scan.extensions.contract_details.factory_children.factory_children import FactoryChildren
from scan.extensions.contract_details.verification_jobs.jobs import JobRunner, VerificationJobs
from scan.http.hooks import Worker
from scan.http.request_state import Services
from scan.http.worker_threads import WorkerThread

EVERY_S = 0.5


def threads(core: Services) -> Iterable[WorkerThread]:
    if not core.settings.of(Settings).artifacts:
        return ()
    watch = BuildWatch(core.sources.get(Builds), core.writes, core.verifier)
    failure = "builds are not compared"
    return (WorkerThread("builds", watch.step, EVERY_S, core.writes, failure),)


CONTRACT_IMPORT_EVERY_S = 2.0


def contract_import_threads(core: Services) -> Iterable[WorkerThread]:
    folder = core.settings.sources_dir
    if folder is None:
        return ()
    step = KeptSources(folder, core.writes, core.sources.get(VerificationJobs)).step
    failure = "verified sources are not kept"
    return (WorkerThread("kept-sources", step, CONTRACT_IMPORT_EVERY_S, core.writes, failure),)


FACTORY_CHILDREN_EVERY_S = 2.0


def factory_children_threads(core: Services) -> Iterable[WorkerThread]:
    jobs = core.sources.get(VerificationJobs)
    step = FactoryChildren(core.writes, core.verifier.creations, jobs).step
    failure = "contracts of verified factories are not submitted"
    return (WorkerThread("factory-children", step, FACTORY_CHILDREN_EVERY_S, core.writes, failure),)


def verification_jobs_threads(core: Services) -> Iterable[JobRunner]:
    return (JobRunner(core.writes, core.verifier, core.sources.get(VerificationJobs)),)


HOOKS = (
    Worker(threads=threads),
    Worker(threads=contract_import_threads),
    Worker(threads=factory_children_threads),
    Worker(threads=verification_jobs_threads),
)
