"""A thread submits contracts of verified factories."""

from scan.extensions.contract_details.factory_children.factory_children import FactoryChildren
from scan.extensions.verification_jobs.jobs import VerificationJobs
from scan.http.background_threads import WorkerThread
from scan.http.hooks import Worker
from scan.http.services import Services

EVERY_S = 2.0


def submitter(core: Services) -> list[WorkerThread]:
    jobs = core.sources.get(VerificationJobs)
    step = FactoryChildren(core.writes, core.verifier.creations, jobs).step
    failure = "contracts of verified factories are not submitted"
    return [WorkerThread("factory-children", step, EVERY_S, core.writes, failure)]


HOOKS = Worker(threads=submitter)
