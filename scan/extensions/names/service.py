"""What lives as long as the process: the names that it knows."""

from scan import hooks
from scan.extensions.names.primary_names import Names
from scan.extensions.names.settings import Settings
from scan.http.services import Services


def service(core: Services) -> object:
    return Names(core.settings.of(Settings))


HOOKS = hooks.Service(make=service)
