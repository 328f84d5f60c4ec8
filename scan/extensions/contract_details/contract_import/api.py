"""A thread keeps verified sources for chains that begin anew; what the public export claims is
compiled beside serving."""

from collections.abc import Iterator

from scan.extensions.contract_details.contract_import.exported_sources import ExportedSources
from scan.extensions.contract_details.contract_import.importer import KeptSources
from scan.extensions.contract_details.contract_page import RequestedClaims
from scan.extensions.verification_jobs.jobs import VerificationJobs
from scan.http.background_threads import WorkerThread
from scan.http.hooks import UnverifiedSources, Worker
from scan.http.services import Services

EVERY_S = 2.0


def keeper(core: Services) -> Iterator[WorkerThread]:
    if (folder := core.settings.sources_dir) is not None:
        step = KeptSources(folder, core.writes, core.sources.get(VerificationJobs)).step
        failure = "verified sources are not kept"
        yield WorkerThread("kept-sources", step, EVERY_S, core.writes, failure)


def exported(core: Services) -> ExportedSources:
    return ExportedSources(core.writes, core.sources.get(RequestedClaims))


HOOKS = (Worker(threads=keeper), UnverifiedSources(queue=exported))
