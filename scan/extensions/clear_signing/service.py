"""What lives as long as the process: the descriptors of the folder."""

from scan import hooks
from scan.extensions.clear_signing.descriptors import Descriptors
from scan.extensions.clear_signing.settings import Settings
from scan.http.services import Services


def service(core: Services) -> object:
    return Descriptors(core.settings.of(Settings).descriptors)


HOOKS = hooks.Service(make=service)
