"""The operator's builds, for as long as the process lives.

What lives as long as the process: the jobs.
"""

from scan.extensions.contract_details.builds.build_watch import Builds
from scan.extensions.contract_details.builds.settings import Settings
from scan.extensions.contract_details.verification_jobs.jobs import VerificationJobs
from scan.extensions.transaction_details.explanations.mapped_code import BuiltCreations
from scan.http.hooks import Service
from scan.http.request_state import Services


def service(core: Services) -> Builds:
    return Builds(core.settings.of(Settings).artifacts)


def verification_jobs_service(core: Services) -> object:
    return VerificationJobs(core.writes, core.waiting_threads)


HOOKS = (Service(make=service, base=BuiltCreations), Service(make=verification_jobs_service))
