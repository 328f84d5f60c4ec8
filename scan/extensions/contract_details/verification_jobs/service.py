"""What lives as long as the process: the jobs."""

from scan.extensions.contract_details.verification_jobs.jobs import VerificationJobs
from scan.http.hooks import Service
from scan.http.services import Services


def service(core: Services) -> object:
    return VerificationJobs(core.writes, core.waiting_threads)


HOOKS = Service(make=service)
