"""What lives as long as the process: the blocks of lists that the node's logs were counted for."""

from scan.extensions.logs.node_logs import LogBlocks
from scan.http.services import Services


def service(_core: Services) -> object:
    return LogBlocks()
