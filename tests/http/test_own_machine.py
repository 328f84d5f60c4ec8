"""A refusal names the setting that lifts it, to a developer on the machine that Scan runs on."""

import ipaddress
from dataclasses import replace
from typing import Any

from app import create_app
from tests.support.indexing import settings_for
from tests.support.serving import NOWHERE

LIMITS = {f"rate_limit_{kind}": "1/minute" for kind in ("anonymous", "pages")}
WEBHOOK = {
    "ownerAddress": "0x" + 40 * "1", "url": "https://127.0.0.1/hook", "eventTypes": ["tx"],
}  # fmt: skip
PROXIED: list[dict[str, Any]] = [
    {"headers": {"X-Forwarded-For": "127.0.0.1"}},
    {"headers": {"X-Real-IP": "127.0.0.1"}},
    {"headers": {"Via": "1.1 proxy"}},
    {"headers": {"Forwarded": "for=127.0.0.1"}},
    {"base_url": "http://scan.example.org"},
    {"base_url": "http://localhost.example.org"},  # a name that begins alike
    {"environ_base": {"REMOTE_ADDR": "192.0.2.7"}},
]
PUBLIC: list[dict[str, Any]] = [{"trusted_proxies": 1}, {"host": "0.0.0.0"}]


def refusals(url: str, settings: dict[str, Any], **request: Any) -> list[str]:
    """The messages of a request, a page and a webhook that are refused."""
    chosen = replace(settings_for(url, NOWHERE), **{**LIMITS, **settings})
    client = create_app(chosen).test_client()
    sent = {"base_url": "http://localhost:8000", **request}
    unlimited = create_app(replace(chosen, rate_limit_anonymous="9/minute")).test_client()
    refused = unlimited.post("/api/v1/webhooks", json=WEBHOOK, **sent)
    assert "This url is not allowed" in refused.json["error"]
    texts = [refused.json["error"]]
    for path in ("/api/v1/blocks/0", "/blocks"):
        client.get(path, **sent)
        limited = client.get(path, **sent)
        assert limited.status_code == 429
        texts.append(limited.text)
    return texts


def test_a_developer_is_told_the_setting(shared_database_url: str) -> None:
    webhook, request, page = refusals(shared_database_url, {})
    assert webhook.endswith("start Scan with SCAN_WEBHOOK_ALLOW_NETWORKS=127.0.0.0/8.")
    assert "SCAN_RATE_LIMIT_ANONYMOUS=100000/minute" in request
    assert "SCAN_RATE_LIMIT_PAGES=100000/minute" in page


def test_nobody_else_is_told_one(shared_database_url: str) -> None:
    """Whoever comes through a proxy, and anybody where a service is public."""
    for request in PROXIED:
        texts = refusals(shared_database_url, {}, **request)
        assert not any("SCAN_" in text for text in texts), request
    for settings in PUBLIC:
        texts = refusals(shared_database_url, settings)
        assert not any("SCAN_" in text for text in texts), settings


def test_the_setting_that_is_told_allows_the_webhook(shared_database_url: str) -> None:
    loopback = (ipaddress.ip_network("127.0.0.0/8"),)
    chosen = replace(settings_for(shared_database_url, NOWHERE), webhook_allow_networks=loopback)
    created = create_app(chosen).test_client().post("/api/v1/webhooks", json=WEBHOOK)
    assert created.status_code == 201, created.json
