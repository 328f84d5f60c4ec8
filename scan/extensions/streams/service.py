"""What lives as long as the process: the open streams and the threads that serve them."""

from scan.extensions.streams.broadcaster import Streams
from scan.http.hooks import Service
from scan.http.request_state import Services


def service(core: Services) -> object:
    return Streams(core.reads, core.version_listener())


HOOKS = Service(make=service)
