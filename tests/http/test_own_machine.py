"""A refusal names the setting that lifts it, to a developer on the machine that Scan runs on."""

import ipaddress
from dataclasses import replace
from typing import Any

import pytest

from app import create_app
from tests.support.indexing import settings_for

LIMITS = {f"rate_limit_{kind}": "1/minute" for kind in ("anonymous", "pages")}
WEBHOOK = {
    "ownerAddress": "0x" + 40 * "1", "url": "https://127.0.0.1/hook", "eventTypes": ["tx"],
}  # fmt: skip
PROXIED: dict[str, dict[str, Any]] = {
    "X-Forwarded-For": {"headers": {"X-Forwarded-For": "127.0.0.1"}},
    "X-Real-IP": {"headers": {"X-Real-IP": "127.0.0.1"}},
    "Via": {"headers": {"Via": "1.1 proxy"}},
    "Forwarded": {"headers": {"Forwarded": "for=127.0.0.1"}},
    "another host": {"base_url": "http://scan.example.org"},
    "a name that begins alike": {"base_url": "http://localhost.example.org"},
    "another peer": {"environ_base": {"REMOTE_ADDR": "192.0.2.7"}},
}
SETTINGS: dict[str, dict[str, Any]] = {
    "a proxy is trusted": {"trusted_proxies": 1},
    "others reach the service": {"host": "0.0.0.0"},
}


def refusals(url: str, settings: dict[str, Any], **request: Any) -> list[str]:
    """The messages of a request, a page and a webhook that are refused."""
    chosen = replace(settings_for(url, "http://127.0.0.1:1"), **{**LIMITS, **settings})
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


def test_a_developer_is_told_the_setting(database_url: str) -> None:
    webhook, request, page = refusals(database_url, {})
    assert webhook.endswith("start Scan with SCAN_WEBHOOK_ALLOW_NETWORKS=127.0.0.0/8.")
    assert "SCAN_RATE_LIMIT_ANONYMOUS=100000/minute" in request
    assert "SCAN_RATE_LIMIT_PAGES=100000/minute" in page


@pytest.mark.parametrize("kind", PROXIED)
def test_whoever_comes_through_a_proxy_is_not(database_url: str, kind: str) -> None:
    assert not any("SCAN_" in text for text in refusals(database_url, {}, **PROXIED[kind]))


@pytest.mark.parametrize("kind", SETTINGS)
def test_nor_is_anybody_where_a_service_is_public(database_url: str, kind: str) -> None:
    assert not any("SCAN_" in text for text in refusals(database_url, SETTINGS[kind]))


def test_the_setting_that_is_told_allows_the_webhook(database_url: str) -> None:
    loopback = (ipaddress.ip_network("127.0.0.0/8"),)
    chosen = replace(
        settings_for(database_url, "http://127.0.0.1:1"), webhook_allow_networks=loopback
    )
    created = create_app(chosen).test_client().post("/api/v1/webhooks", json=WEBHOOK)
    assert created.status_code == 201, created.json
