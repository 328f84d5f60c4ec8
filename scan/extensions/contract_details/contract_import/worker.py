"""What runs beside serving: sources are kept for chains that begin anew."""

from collections.abc import Iterable

from scan.extensions.contract_details.contract_import.kept_sources import KeptSources
from scan.extensions.contract_details.verification_jobs.jobs import VerificationJobs
from scan.http.hooks import Worker
from scan.http.services import Services
from scan.http.worker_thread import WorkerThread

EVERY_S = 2.0


def threads(core: Services) -> Iterable[WorkerThread]:
    folder = core.settings.sources_dir
    if folder is None:
        return ()
    step = KeptSources(folder, core.writes, core.sources.get(VerificationJobs)).step
    failure = "verified sources are not kept"
    return (WorkerThread("kept-sources", step, EVERY_S, core.writes, failure),)


HOOKS = Worker(threads=threads)
