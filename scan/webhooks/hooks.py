"""What extensions add to deliveries."""

from collections.abc import Callable, Mapping

from scan.database.connection import Database
from scan.registry import Part
from scan.settings import Settings
from scan.webhooks.queues import Connect


class Deliveries(Part, module="deliveries"):
    """Webhooks that are not HTTP requests."""

    connect: Mapping[str, Callable[[Settings, Database], Connect | None]]
    """What connects to receivers, by the scheme of their URLs, which their queues have for a host;
    None where the settings allow no delivery, which is left to processes that can."""
