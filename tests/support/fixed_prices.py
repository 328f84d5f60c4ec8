"""Prices that a test chooses, in place of those that a service reads."""

from scan.queries.holdings import Prices
from tests.support.indexing import sources


class FixedPrices(Prices):
    def __init__(self, prices):
        self.prices, self.reads = prices, 0

    def newest(self, reader):
        self.reads += 1
        return self.prices


def price(client, prices):
    """Have a client's service show these prices until the test ends."""
    chosen = sources(client).of_extensions[Prices] = FixedPrices(prices)
    return chosen
