"""What lives as long as the process: events of approvals that the node gave."""

from scan.extensions.approvals.events import NodeEvents
from scan.http.services import Services


def service(_core: Services) -> object:
    return NodeEvents()
