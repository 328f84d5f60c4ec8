"""GET /api/v1/prices. The operator's prices live as long as the process."""

from flask import Blueprint

from scan.api.hooks import Api
from scan.extensions.markets.unit_prices.price_source import PriceSource
from scan.extensions.markets.unit_prices.settings import Settings
from scan.http.current_request import query_arguments, reader
from scan.http.hooks import Service
from scan.http.json_responses import Response, json_value
from scan.http.services import Services
from scan.outbound.http_client import HttpClient, tls_context
from scan.queries.holdings import Prices

price_views = Blueprint("prices", __name__)


@price_views.get("/prices")
def get_prices() -> Response:
    """Return the operator's prices, on which no amount of the chain depends."""
    query_arguments()
    prices, problem = reader().sources.get(PriceSource).read(reader())
    reader().do_not_cache()
    if prices is None:
        empty = dict.fromkeys(("currency", "source", "time", "coin", "history"))
        return json_value(
            {**empty, "tokens": {}, "pools": {}, "unused": {}, "minDepth": None, "problem": problem}
        )
    return json_value(
        {
            "currency": prices.currency,
            "source": prices.source,
            "time": prices.time,
            "coin": None if prices.coin is None else f"{prices.coin:f}",
            "tokens": {address: f"{price:f}" for address, price in prices.tokens.items()},
            "minDepth": f"{prices.min_depth:f}",
            "pools": {
                token: {
                    "pool": by.pool,
                    "price": f"{by.price:f}",
                    "depth": f"{by.depth:f}",
                    "at": by.at,
                }
                for token, by in prices.pools.items()
            },
            "unused": {token: unused._asdict() for token, unused in prices.unused.items()},
            "history": prices.history,
            "problem": problem,
        }
    )


def price_source(core: Services) -> PriceSource:
    settings, source = core.settings, core.settings.of(Settings).prices
    is_url = "://" in source
    fetcher = HttpClient(tls_context(settings.ca_bundle)) if is_url else None
    return PriceSource(source, fetcher, settings.webhook_allow_networks)


HOOKS = (Api(blueprints=(price_views,)), Service(make=price_source, base=Prices))
