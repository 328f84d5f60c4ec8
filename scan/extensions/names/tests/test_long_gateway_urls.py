"""A contract names its gateways' URLs, and how often its data stands in them."""

import time
import tracemalloc

import pytest

from scan.extensions.names.gateways import Gateways, Lookup, NoAnswer

pytestmark = pytest.mark.check

CONTRACT = bytes([7]) * 20


class NoFetcher:
    """Must not be asked."""

    def get(self, url, *_, **__):
        raise AssertionError(url)


@pytest.mark.parametrize("name", ["data", "sender"])
def test_a_long_url_is_not_made(name):
    url = b"https://gateway.example/" + f"{{{name}}}".encode() * 5_000
    lookup = Lookup(CONTRACT, [url], bytes(100_000), b"\1\2\3\4", b"")
    tracemalloc.start()
    try:
        with pytest.raises(NoAnswer):
            Gateways(NoFetcher(), ()).answer(lookup, time.monotonic() + 60)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000
