"""Actions for the coin's price, which are in USD, and in BTC that nobody gives here."""

from datetime import datetime
from functools import partial

from scan.extensions.etherscan.hooks import Etherscan
from scan.extensions.etherscan.replies import Failure, Parameters, Reply
from scan.http.current_request import reader
from scan.queries.holdings import coin_in_usd

NO_PRICE = (
    "Error! No price of the coin in USD is configured; what the operator gives is at /api/v1/prices"
)


def price(prefix: str, _parameters: Parameters) -> Reply:
    """Return the price with its time; names of fields begin with the coin's."""
    reader().do_not_cache()
    in_usd = coin_in_usd(reader())
    if in_usd is None:
        raise Failure(NO_PRICE)
    seconds = int(datetime.fromisoformat(in_usd.time).timestamp())
    price_fields = {
        f"{prefix}btc": "",
        f"{prefix}btc_timestamp": "",
        f"{prefix}usd": f"{in_usd.amount:f}",
        f"{prefix}usd_timestamp": str(seconds),
    }
    return Reply(price_fields)


PRICES = {
    ("stats", "ethprice"): partial(price, "eth"),
    ("stats", "coinprice"): partial(price, "coin_"),
}
HOOKS = Etherscan(actions=PRICES)
