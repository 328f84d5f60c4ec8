"""What lives as long as the process: the open streams and the threads that serve them."""

from collections.abc import Iterable

from scan.extensions.streams.broadcaster import Streams
from scan.http.services import Services


def services(core: Services) -> Iterable[object]:
    return (Streams(core.reads, core.version_listener()),)
