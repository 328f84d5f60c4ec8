"""What runs beside serving: jobs."""

from collections.abc import Iterable

from scan.extensions.contract_details.verification_jobs.job_runner import JobRunner
from scan.extensions.contract_details.verification_jobs.jobs import VerificationJobs
from scan.http.hooks import Worker
from scan.http.services import Services


def threads(core: Services) -> Iterable[JobRunner]:
    return (JobRunner(core.writes, core.verifier, core.sources.get(VerificationJobs)),)


HOOKS = Worker(threads=threads)
