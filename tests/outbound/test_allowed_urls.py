"""Where a webhook may go: forms of URLs, and kinds of addresses."""

import ipaddress
import threading

import pytest

from scan.outbound import allowed_urls
from scan.outbound.allowed_urls import NotResolved, Purpose, RefusedUrl

pytestmark = pytest.mark.check

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
PUBLIC = [ipaddress.ip_address("93.184.215.14")]


@pytest.mark.parametrize(
    "url",
    [
        *("", "example.com/hook", "//example.com/hook", "http://example.com/hook"),
        *("ftp://example.com/hook", "file:///etc/passwd", "javascript:alert(1)"),
        *(" https://example.com", "https://example.com/a b", "https://example.com/a\tb"),
        *("https://example.com/\r\nX-Injected: 1", "https://example.com\\@127.0.0.1/"),
        *("https://exämple.com/", "https://example。com/", "https://①②⑦.0.0.1/", "https:///hook"),
        *("https://", "https://:443/", "https://?x", "https://user@example.com/"),
        *("https://user:secret@example.com/", "https://@example.com/", "https://%31%32%37.0.0.1/"),
        *("https://example.com:port/", "https://example.com:99999/", "https://[::1/"),
        *("https://[v1.127]/", "https://[fe80::1%25eth0]/", "https://-.com:x"),
        *("https://exa mple.com", "https://a..b.com/", "https://" + "a" * 64 + ".com/"),
        *("https://" + "a." * 130 + "com/", "https://example.com/" + "a" * 2029),
    ],
)
def test_what_is_no_plain_https_url_is_refused(url):
    with pytest.raises(RefusedUrl):
        allowed_urls.parse(url)


@pytest.mark.parametrize(
    ("url", "host", "port", "path"),
    [
        ("https://example.com", "example.com", 443, "/"),
        ("HTTPS://Example.COM./Hook", "example.com", 443, "/Hook"),
        ("https://a.example.com:8443/x?y=1#z", "a.example.com", 8443, "/x?y=1"),
        ("https://xn--exmple-cua.com?y", "xn--exmple-cua.com", 443, "/?y"),
        ("https://localhost:9000/", "localhost", 9000, "/"),
        ("https://[::1]:9000/", "::1", 9000, "/"),
        ("https://a.com/" + "a" * 2034, "a.com", 443, "/" + "a" * 2034),  # 2,048 characters
    ],
)
def test_an_https_url_is_taken_apart(url, host, port, path):
    assert allowed_urls.parse(url) == (host, port, path, True, "")


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("http://node/x", ("node", 80, "/x", False, "")),
        ("https://u:p%40@[::1]:9/?y", ("::1", 9, "/?y", True, "u:p@")),
        ("http://a.example:8/" + "a" * 3000, ("a.example", 8, "/" + "a" * 3000, False, "")),
    ],
)
def test_only_an_operators_url_may_be_without_tls_or_with_a_password(url, parts):
    assert allowed_urls.parse(url, Purpose.OPERATOR) == parts
    with pytest.raises(RefusedUrl):
        allowed_urls.parse(url)


def test_a_webhooks_url_may_be_without_tls_in_allowed_networks_alone():
    url = allowed_urls.parse("http://localhost:9000/", Purpose.REGISTRATION)
    loopback = [ipaddress.ip_address("127.0.0.1")]
    allowed_urls.require_allowed(url, loopback, LOOPBACK)
    for addresses, allowed in ((loopback, ()), (loopback + PUBLIC, LOOPBACK), ([], LOOPBACK)):
        with pytest.raises(RefusedUrl):
            allowed_urls.require_allowed(url, addresses, allowed)
    public = allowed_urls.parse("http://example.com/", Purpose.HEALTHY_RECEIVER)
    with pytest.raises(RefusedUrl, match="https://"):
        allowed_urls.require_allowed(public, PUBLIC, ())


@pytest.mark.parametrize(
    "url",
    """
        https://93.184.215.14/ https://127.0.0.1/ https://127.1/ https://2130706433/
        https://0x7f000001/ https://0x7f.1/ https://0177.0.0.1/ https://127.0.0.1./ https://[::1]/
        https://[::ffff:127.0.0.1]/ https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/
        https://1.2.3.4.5/ https://localhost/ https://intranet/ https://printer.local/
        https://metadata.google.internal/ https://app.localhost/ https://app.localhost./
        https://example.com:80/ https://example.com:0/ https://example.com:22/
        https://example.com:8444/
    """.split(),
)
def test_literals_local_names_and_other_ports_are_refused(url):
    with pytest.raises(RefusedUrl):
        target = allowed_urls.parse(url)
        literal = target.literal
        allowed_urls.require_allowed(target, [literal] if literal else PUBLIC, ())


@pytest.mark.parametrize(
    "address",
    [
        *"""
            0.0.0.0 10.0.0.1 100.64.0.1 127.0.0.1 127.255.255.255 169.254.169.254 172.16.0.1
            172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.1
            203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:10.0.0.1
            64:ff9b::a00:1 64:ff9b:1::1 100::1 2001::1 2001:2::1 2001:10::1 2001:db8::1
            2002:7f00:1::1 2620:4f:8000::1 3fff::1 4000::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1
            fec0::1 ff02::1
        """.split(),
        # Reachable from inside a cloud alone, though in public ranges, or in shared ones.
        *"""
            168.63.129.16 192.80.8.124 161.26.0.10 166.8.0.1 166.11.255.254 100.100.100.200
            192.0.0.192
        """.split(),
    ],
)
def test_special_addresses_are_not_public(address):
    target = allowed_urls.parse("https://example.com/")
    assert not allowed_urls.is_public(ipaddress.ip_address(address))
    with pytest.raises(RefusedUrl):
        allowed_urls.require_allowed(target, [*PUBLIC, ipaddress.ip_address(address)], ())


@pytest.mark.parametrize(
    "address",
    """
        1.1.1.1 93.184.215.14 172.32.0.1 168.63.129.17 166.12.0.1 161.27.0.1 2606:4700::1111
        2a00:1450::1
    """.split(),
)
def test_other_addresses_are_public(address):
    assert allowed_urls.is_public(ipaddress.ip_address(address))


def test_allowed_networks_lift_the_rules_of_names_and_ports():
    loopback = [ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("::1")]
    for url in ("https://localhost:9000/", "https://127.0.0.1:80/", "https://0x7f.1/"):
        allowed_urls.require_allowed(allowed_urls.parse(url), loopback, LOOPBACK)


def test_one_address_outside_of_allowed_networks_brings_the_rules_back():
    mixed = [ipaddress.ip_address("127.0.0.1"), *PUBLIC]
    allowed_urls.require_allowed(allowed_urls.parse("https://example.com/"), mixed, LOOPBACK)
    with pytest.raises(RefusedUrl):
        allowed_urls.require_allowed(
            allowed_urls.parse("https://example.com:9000/"), mixed, LOOPBACK
        )
    mixed = [ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("10.0.0.1")]
    with pytest.raises(RefusedUrl):
        allowed_urls.require_allowed(allowed_urls.parse("https://example.com/"), mixed, LOOPBACK)


def test_a_name_server_that_hangs_is_not_waited_for(names):
    ended = threading.Event()
    names["example.com"] = lambda _: ended.wait() and []
    with pytest.raises(NotResolved, match="in time"):
        allowed_urls.resolve(allowed_urls.parse("https://example.com/"), 0.05, Purpose.REGISTRATION)
    ended.set()
