"""What runs beside serving: contracts of verified factories are submitted."""

from collections.abc import Iterable

from scan.extensions.contract_details.factory_children.factory_children import FactoryChildren
from scan.extensions.contract_details.verification_jobs.jobs import VerificationJobs
from scan.http.hooks import Worker
from scan.http.services import Services
from scan.http.worker_thread import WorkerThread

EVERY_S = 2.0


def threads(core: Services) -> Iterable[WorkerThread]:
    jobs = core.sources.get(VerificationJobs)
    step = FactoryChildren(core.writes, core.verifier.creations, jobs).step
    failure = "contracts of verified factories are not submitted"
    return (WorkerThread("factory-children", step, EVERY_S, core.writes, failure),)


HOOKS = Worker(threads=threads)
