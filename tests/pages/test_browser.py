"""The pages, in a real browser."""

import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from tests.support.browser import Page, chromium

STATS = "#operations-Chain-getStats"


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    with chromium() as page:
        yield page


@pytest.fixture
def page(browser: Page) -> Page:
    browser.requested.clear()
    browser.errors.clear()
    return browser


def requested_from(page: Page) -> set[str]:
    return {urlsplit(address).netloc for address in page.requested if address.startswith("http")}


def test_the_landing_page_shows_the_head(page: Page, over_http: str, tmp_path: Path) -> None:
    page.open(over_http)
    head = requests.get(f"{over_http}/api/v1/stats", timeout=10).json()["latestBlock"]
    assert page.evaluate("document.getElementById('head').textContent") == f"{head:,}"
    assert f"{over_http}/api/v1/stats" in page.evaluate("document.body.innerText")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert requested_from(page) == {urlsplit(over_http).netloc}
    page.screenshot(tmp_path / "landing.png")


def test_links_of_the_landing_page_lead_somewhere(page: Page, over_http: str) -> None:
    page.open(over_http)
    links = page.evaluate("[...document.links].map(link => link.href)")
    assert len(links) >= 5
    assert {requests.get(link, timeout=10).status_code for link in links} == {200}


def test_a_request_can_be_tried_in_the_documentation(
    page: Page, over_http: str, tmp_path: Path
) -> None:
    page.open(f"{over_http}/docs/")
    page.wait(f"document.querySelector('{STATS} button')")
    page.evaluate(f"document.querySelector('{STATS} button').click()")
    page.wait(f"document.querySelector('{STATS} button.execute')")
    # The page loses a request asked for in the moment in which it still resolves the operation.
    page.wait("ui.specSelectors.specResolvedSubtree(['paths', '/api/v1/stats', 'get'])")
    time.sleep(0.5)
    page.evaluate(f"document.querySelector('{STATS} button.execute').click()")
    live = f"document.querySelector('{STATS} .live-responses-table .response')"
    page.wait(live)
    assert page.evaluate(f"{live}.querySelector('.response-col_status').innerText") == "200"
    assert "latestBlock" in page.evaluate(f"{live}.innerText")
    page.screenshot(tmp_path / "docs.png")


def test_the_documentation_is_whole_and_from_here_alone(page: Page, over_http: str) -> None:
    page.open(f"{over_http}/docs/")
    page.wait("document.querySelectorAll('.opblock').length > 20")
    documented = requests.get(f"{over_http}/api/v1/openapi.json", timeout=10).json()
    names = [o["operationId"] for p in documented["paths"].values() for o in p.values()]
    shown = page.evaluate("[...document.querySelectorAll('.opblock')].map(block => block.id)")
    assert {block.rsplit("-", 1)[-1] for block in shown} >= set(names)
    assert page.evaluate("document.querySelectorAll('.errors-wrapper').length") == 0
    assert requested_from(page) == {urlsplit(over_http).netloc}
    assert page.errors == []


def test_another_site_may_ask(page: Page, over_http: str) -> None:
    """A browser lets a page of another origin read the answer and its headers."""
    page.open(f"{over_http.replace('127.0.0.1', 'localhost')}/healthz")
    script = f"fetch('{over_http}/api/v1/stats', {{headers: {{'X-Request-Id': 'a-page'}}}})"
    assert page.evaluate(f"{script}.then(answer => answer.headers.get('x-request-id'))") == "a-page"
