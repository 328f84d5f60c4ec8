"""What lives as long as the process: the open streams and the threads that serve them."""

from scan import hooks
from scan.extensions.streams.broadcaster import Streams
from scan.http.services import Services


def service(core: Services) -> object:
    return Streams(core.reads, core.version_listener())


HOOKS = hooks.Service(make=service)
