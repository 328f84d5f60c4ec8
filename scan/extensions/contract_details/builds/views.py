"""The operator's builds live as long as the process; a thread watches their folders, and the page
of the index's state names those that are missing."""

from collections.abc import Iterator, Mapping
from typing import Any

from scan.extensions.compiled_sources.mapped_code import BuiltCreations
from scan.extensions.contract_details.builds.build_watch import Builds, BuildWatch
from scan.extensions.contract_details.builds.deployment_names import DeploymentNames
from scan.extensions.contract_details.builds.settings import Settings, missing
from scan.http.background_threads import WorkerThread
from scan.http.hooks import Service, Worker
from scan.http.services import Services, services
from scan.pages.hooks import Pages, StatusSection

EVERY_S = 0.5


def watch(core: Services) -> Iterator[WorkerThread]:
    if core.settings.of(Settings).folders:
        builds = core.sources.get(Builds)
        watched = BuildWatch(builds, core.writes, core.verifier)
        names = DeploymentNames(builds, core.writes)

        def step() -> bool:
            names.step()
            return watched.step()

        yield WorkerThread("builds", step, EVERY_S, core.writes, "builds are not compared")


def _read() -> Mapping[str, Any]:
    folders = missing(services().settings.of(Settings).folders)
    return {"missing_builds": [folder.name for folder in folders]}  # paths are the operator's


HOOKS = (
    Service(make=lambda core: Builds(core.settings.of(Settings).folders), base=BuiltCreations),
    Worker(threads=watch),
    Pages(sections=(StatusSection({"status": "status_builds.html"}, _read),)),
)
