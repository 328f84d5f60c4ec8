"""What extensions add to deliveries."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scan.database.connection import Database
from scan.registry import Part
from scan.settings import Settings
from scan.webhooks.queues import Connect


@dataclass(frozen=True, kw_only=True)
class Deliveries(Part):
    """Webhooks that are not HTTP requests."""

    module = "deliveries"
    connect: Mapping[str, Callable[[Settings, Database], Connect]]
    """What connects to receivers, by the scheme of their URLs."""
