"""A refusal names the setting that lifts it, to a developer on the machine that Scan runs on."""

import pytest

from tests.support.database import made_key
from tests.support.indexing import client_over

LIMITS = {f"rate_limit_{kind}": "5/minute" for kind in ("anonymous", "pages")}
WEBHOOK = {
    "ownerAddress": "0x" + 40 * "1", "url": "https://127.0.0.1/hook", "eventTypes": ["tx"],
}  # fmt: skip


def refusals(client, **request):
    """The messages of a webhook, a request and a page that are refused."""
    options = {"base_url": "http://localhost:8000", **request}
    webhook = client.post("/api/v1/webhooks", json=WEBHOOK, **options).json["error"]
    assert "This url is not allowed" in webhook
    limited = []
    for path in ("/api/v1/blocks/0", "/blocks"):
        *_, refused = (client.get(path, **options) for _ in range(9))
        assert refused.status_code == 429
        limited.append(refused.text)
    return webhook, *limited


def test_a_developer_is_told_the_setting_and_who_comes_through_a_proxy_is_not(shared_database_url):
    client = client_over(shared_database_url, **LIMITS)
    webhook, request, page = refusals(client)
    assert webhook.endswith("start Scan with SCAN_WEBHOOK_ALLOW_NETWORKS=127.0.0.0/8.")
    assert "SCAN_RATE_LIMIT_ANONYMOUS=100000/minute" in request
    assert "SCAN_RATE_LIMIT_PAGES=100000/minute" in page
    for proxied in [
        {"headers": {"X-Forwarded-For": "127.0.0.1"}},
        {"headers": {"X-Real-IP": "127.0.0.1"}},
        {"headers": {"Via": "1.1 proxy"}},
        {"headers": {"Forwarded": "for=127.0.0.1"}},
        {"base_url": "http://scan.example.org"},
        {"base_url": "http://localhost.example.org"},  # a name that begins alike
        {"environ_base": {"REMOTE_ADDR": "192.0.2.7"}},
    ]:
        client = client_over(shared_database_url, **LIMITS)
        assert not any("SCAN_" in text for text in refusals(client, **proxied)), proxied


@pytest.mark.parametrize("header", ["X-API-Key: {}", "Authorization: Bearer {}"])
def test_who_reaches_the_limit_of_a_key_is_not_told_another(shared_database_url, header):
    name, value = header.format(made_key(shared_database_url, 5).text).split(": ")
    client = client_over(shared_database_url, **LIMITS)
    _, request, page = refusals(client, headers={name: value})
    assert "Rate limit of 5 requests" in request and "SCAN_" not in request
    assert "SCAN_RATE_LIMIT_PAGES" in page


@pytest.mark.parametrize("public", [{"trusted_proxies": 1}, {"host": "0.0.0.0"}], ids=str)
def test_nobody_is_told_where_a_service_is_public(shared_database_url, public):
    client = client_over(shared_database_url, **LIMITS, **public)
    assert not any("SCAN_" in text for text in refusals(client))
