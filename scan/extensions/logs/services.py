"""What lives as long as the process: the blocks of lists that the node's logs were counted for."""

from collections.abc import Iterable

from scan.extensions.logs.node_logs import LogBlocks
from scan.http.services import Services


def services(_core: Services) -> Iterable[object]:
    return (LogBlocks(),)
