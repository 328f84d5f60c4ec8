"""What runs beside serving: sources are kept for chains that begin anew."""

from collections.abc import Iterable

from scan.extensions.contract_import.kept_sources import KeptSources
from scan.extensions.verification_jobs.jobs import VerificationJobs
from scan.http.services import Services


def threads(core: Services) -> Iterable[KeptSources]:
    folder = core.settings.sources_dir
    jobs = core.sources.get(VerificationJobs)
    return () if folder is None else (KeptSources(folder, core.writes, jobs),)
