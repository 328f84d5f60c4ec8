"""Jobs live as long as the process; a thread runs them."""

from scan.extensions.verification_jobs.jobs import JobRunner, VerificationJobs
from scan.http.hooks import Service, Worker
from scan.http.services import Services


def runner(core: Services) -> list[JobRunner]:
    return [JobRunner(core.writes, core.verifier, core.sources.get(VerificationJobs))]


def jobs(core: Services) -> VerificationJobs:
    sources = core.sources

    def index(address: bytes, client: str) -> bool:
        node = sources.gateway.session(client)
        return sources.replaced_codes.index_at_newest(node, address)

    return VerificationJobs(core.writes, core.waiting_threads, index)


HOOKS = (Service(make=jobs), Worker(threads=runner))
