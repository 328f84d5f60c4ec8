"""What lives as long as the process: the source of prices."""

from collections.abc import Iterable

from scan.extensions.unit_prices.price_source import PriceSource
from scan.http.services import Services
from scan.outbound.connection import tls_context
from scan.outbound.document_fetcher import DocumentFetcher


def services(core: Services) -> Iterable[object]:
    settings = core.settings
    is_url = "://" in settings.prices
    fetcher = DocumentFetcher(tls_context(settings.ca_bundle)) if is_url else None
    return (PriceSource(settings.prices, fetcher, settings.webhook_allow_networks),)
