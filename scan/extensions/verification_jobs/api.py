"""Jobs live as long as the process; a thread runs them."""

from scan.extensions.verification_jobs.jobs import JobRunner, VerificationJobs
from scan.http.hooks import Service, Worker
from scan.http.services import Services


def runner(core: Services) -> list[JobRunner]:
    return [JobRunner(core.writes, core.verifier, core.sources.get(VerificationJobs))]


HOOKS = (
    Service(make=lambda core: VerificationJobs(core.writes, core.waiting_threads)),
    Worker(threads=runner),
)
