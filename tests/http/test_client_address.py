"""Which bucket a keyless request falls into, and whose bytes go where memory is short."""

import pytest

from scan.rate_limits.client_address import client_address
from scan.server.connection_limits import beyond

pytestmark = pytest.mark.check

PROXY = "10.0.0.1"


def test_peer_alone_counts_without_trusted_proxies():
    buckets = {
        "192.0.2.7": "192.0.2.7",
        "::ffff:192.0.2.7": "192.0.2.7",
        "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
        "fe80::1%eth0": "fe80::/64",
        "": "unknown",  # a unix socket
        "garbage": "unknown",
    }
    for peer, bucket in buckets.items():
        environ = {"REMOTE_ADDR": peer, "HTTP_X_FORWARDED_FOR": "203.0.113.1"}
        assert client_address(environ, 0) == bucket


# X-Forwarded-For, how many proxies are trusted, and the bucket.
@pytest.mark.parametrize(
    ("forwarded_for", "proxies", "bucket"),
    [
        ("203.0.113.1", 1, "203.0.113.1"),
        ("1.1.1.1,203.0.113.1, 10.0.0.2", 2, "203.0.113.1"),
        ("::ffff:203.0.113.1", 1, "203.0.113.1"),
        ("203.0.113.1:4711", 1, "203.0.113.1"),
        ("[2001:db8::5]:4711", 1, "2001:db8::/64"),
        ("2001:db8::5", 1, "2001:db8::/64"),
        # What is missing or broken charges the peer.
        ("", 1, PROXY),
        ("203.0.113.1", 2, PROXY),
        ("203.0.113.1, unknown", 1, PROXY),
        ("203.0.113.1, [::1", 1, PROXY),
        ("\u0661.\u0661.\u0661.\u0661", 1, PROXY),
    ],
)
def test_entry_of_the_outermost_trusted_proxy_counts(forwarded_for, proxies, bucket):
    environ = {"REMOTE_ADDR": PROXY, "HTTP_X_FORWARDED_FOR": forwarded_for}
    assert client_address(environ, proxies) == bucket


def test_what_goes_is_each_time_of_the_client_with_most_then():
    dropped = {
        19: [],
        18: ["b2"],
        14: ["b2", "c1"],
        8: ["b2", "c1", "a1"],
        0: ["b2", "c1", "a1", "b1", "b3"],
    }
    # By connection; its first letter is the client.
    sizes = {"a1": 5, "b1": 3, "b2": 4, "c1": 6, "b3": 1}
    assert {most: beyond(sizes, lambda name: name[0], most) for most in dropped} == dropped
