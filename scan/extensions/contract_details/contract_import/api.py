"""A thread keeps verified sources for chains that begin anew."""

from collections.abc import Iterator

from scan.extensions.contract_details.contract_import.importer import KeptSources
from scan.extensions.verification_jobs.jobs import VerificationJobs
from scan.http.background_threads import WorkerThread
from scan.http.hooks import Worker
from scan.http.services import Services

EVERY_S = 2.0


def keeper(core: Services) -> Iterator[WorkerThread]:
    if (folder := core.settings.sources_dir) is not None:
        step = KeptSources(folder, core.writes, core.sources.get(VerificationJobs)).step
        failure = "verified sources are not kept"
        yield WorkerThread("kept-sources", step, EVERY_S, core.writes, failure)


HOOKS = Worker(threads=keeper)
