"""Actions for the coin's price, which are in USD, and in BTC that nobody gives here."""

from datetime import datetime

from scan.extensions.etherscan.hooks import Etherscan
from scan.extensions.etherscan.replies import Failure, Parameters, Reply
from scan.http.requests import reader
from scan.queries.holdings import coin_in_usd

NO_PRICE = (
    "Error! No price of the coin in USD is configured; what the operator gives is at /api/v1/prices"
)


def ether_price(_parameters: Parameters) -> Reply:
    return _price("eth")


def coin_price(_parameters: Parameters) -> Reply:
    return _price("coin_")


def _price(prefix: str) -> Reply:
    """Return the price with its time; names of fields begin with the coin's."""
    reader().do_not_cache()
    price = coin_in_usd(reader())
    if price is None:
        raise Failure(NO_PRICE)
    seconds = int(datetime.fromisoformat(price.time).timestamp())
    shown = {
        f"{prefix}btc": "",
        f"{prefix}btc_timestamp": "",
        f"{prefix}usd": f"{price.amount:f}",
        f"{prefix}usd_timestamp": str(seconds),
    }
    return Reply(shown)


HOOKS = Etherscan(actions={("stats", "ethprice"): ether_price, ("stats", "coinprice"): coin_price})
