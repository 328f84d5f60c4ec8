"""What lives as long as the process: the source of prices."""

from scan.extensions.markets.unit_prices.price_source import PriceSource
from scan.extensions.markets.unit_prices.settings import Settings
from scan.http.hooks import Service
from scan.http.request_state import Services
from scan.outbound.connection import tls_context
from scan.outbound.document_fetcher import DocumentFetcher
from scan.queries.holdings import Prices


def service(core: Services) -> PriceSource:
    settings, source = core.settings, core.settings.of(Settings).prices
    is_url = "://" in source
    fetcher = DocumentFetcher(tls_context(settings.ca_bundle)) if is_url else None
    return PriceSource(source, fetcher, settings.webhook_allow_networks)


HOOKS = Service(make=service, base=Prices)
