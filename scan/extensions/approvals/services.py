"""What lives as long as the process: events of approvals that the node gave."""

from collections.abc import Iterable

from scan.extensions.approvals.events import NodeEvents
from scan.http.services import Services


def services(_core: Services) -> Iterable[object]:
    return (NodeEvents(),)
