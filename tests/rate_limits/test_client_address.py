"""Which bucket a keyless request falls into."""

import ipaddress

import pytest

from scan.rate_limits.client_address import client_address

pytestmark = pytest.mark.check

PROXY = "10.0.0.1"


@pytest.mark.parametrize(
    ("peer", "bucket"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8::1", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "unknown"),  # a unix socket
        ("garbage", "unknown"),
    ],
)
def test_peer_alone_counts_without_trusted_proxies(peer, bucket):
    assert client_address(peer, "203.0.113.1", 0) == bucket


def test_a_thousand_addresses_of_one_64_share_a_bucket():
    network = ipaddress.IPv6Network("2001:db8:0:7::/64")
    buckets = {
        client_address(str(network[n * 0x9E3779B97F4A7C15 % 2**64]), "", 0) for n in range(1000)
    }
    assert buckets == {"2001:db8:0:7::/64"}


@pytest.mark.parametrize(
    ("forwarded_for", "proxies", "bucket"),
    [
        ("203.0.113.1", 1, "203.0.113.1"),
        ("1.1.1.1, 203.0.113.1", 1, "203.0.113.1"),
        ("1.1.1.1,203.0.113.1, 10.0.0.2", 2, "203.0.113.1"),
        ("1.1.1.1,,2.2.2.2,203.0.113.1", 1, "203.0.113.1"),
        ("::ffff:203.0.113.1", 1, "203.0.113.1"),
        ("203.0.113.1:4711", 1, "203.0.113.1"),
        ("[2001:db8::5]:4711", 1, "2001:db8::/64"),
        ("[2001:db8::5]", 1, "2001:db8::/64"),
        ("2001:db8::5", 1, "2001:db8::/64"),
    ],
)
def test_entry_of_the_outermost_trusted_proxy_counts(forwarded_for, proxies, bucket):
    assert client_address(PROXY, forwarded_for, proxies) == bucket


@pytest.mark.parametrize(
    ("forwarded_for", "proxies"),
    [
        ("", 1),
        ("203.0.113.1", 2),
        ("203.0.113.1, unknown", 1),
        ("203.0.113.1, 999.1.1.1", 1),
        ("203.0.113.1, ", 1),
        ("203.0.113.1, [::1", 1),
        ("1" * 10_000, 1),
        ("\u0661.\u0661.\u0661.\u0661", 1),
    ],
)
def test_missing_or_broken_entries_charge_the_peer(forwarded_for, proxies):
    assert client_address(PROXY, forwarded_for, proxies) == PROXY


def test_entries_a_client_sends_itself_change_nothing():
    buckets = {client_address(PROXY, f"9.9.9.{n}, 203.0.113.1", 1) for n in range(100)}
    assert buckets == {"203.0.113.1"}
