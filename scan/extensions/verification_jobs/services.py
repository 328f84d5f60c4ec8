"""What lives as long as the process: the jobs."""

from collections.abc import Iterable

from scan.extensions.verification_jobs.jobs import VerificationJobs
from scan.http.services import Services


def services(core: Services) -> Iterable[object]:
    return (VerificationJobs(core.writes, core.waiting_threads),)
