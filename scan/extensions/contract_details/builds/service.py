"""The operator's builds, for as long as the process lives."""

from scan.extensions.contract_details.builds.build_watch import Builds
from scan.extensions.contract_details.builds.settings import Settings
from scan.extensions.transaction_details.explanations.mapped_code import BuiltCreations
from scan.http.hooks import Service
from scan.http.services import Services


def service(core: Services) -> Builds:
    return Builds(core.settings.of(Settings).artifacts)


HOOKS = Service(make=service, base=BuiltCreations)
