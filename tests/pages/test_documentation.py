"""The interactive documentation, and the API asked by another site's page."""

import time
from urllib.parse import urlsplit

import pytest
import requests

from tests.support import WAIT_S
from tests.support.page_checks import all_violations, requested_from, show_at, show_theme


@pytest.mark.long
@pytest.mark.parametrize(("theme", "width"), [("light", 360), ("dark", 1280)])
def test_the_documentation_is_whole_accessible_and_from_here_alone(page, over_http, theme, width):
    stats = "#operations-Statistics-getStats"
    show_theme(page, theme)
    show_at(page, width)
    page.open(f"{over_http}/docs/")
    assert not any("swagger-ui" in address for address in page.requested)
    assert all_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.click("main a[href='#/Statistics/getStats']")
    page.wait("document.querySelectorAll('.opblock').length > 20")
    page.wait(f"document.querySelector('{stats}.is-open')")
    documented = requests.get(f"{over_http}/api/v1/openapi.json", timeout=WAIT_S).json()
    names = {
        operation["operationId"]
        for path in documented["paths"].values()
        for method, operation in path.items()
        if method in ("get", "post", "patch", "delete")
    }
    shown = page.evaluate("[...document.querySelectorAll('.opblock')].map(block => block.id)")
    assert {block.rsplit("-", 1)[-1] for block in shown} >= names
    assert page.evaluate("document.querySelectorAll('.errors-wrapper').length") == 0
    page.wait(f"document.querySelector('{stats} button.execute')")
    # The page loses a request asked for in the moment in which it still resolves the operation.
    page.wait("ui.specSelectors.specResolvedSubtree(['paths', '/api/v1/stats', 'get'])")
    time.sleep(0.5)
    page.evaluate(f"document.querySelector('{stats} button.execute').click()")
    live = f"document.querySelector('{stats} .live-responses-table .response')"
    page.wait(live)
    assert page.evaluate(f"{live}.querySelector('.response-col_status').innerText") == "200"
    assert "latestBlock" in page.evaluate(f"{live}.innerText")
    page.click("#operations-Webhooks-createWebhook button")
    for block in (stats, "#operations-Webhooks-createWebhook"):
        page.wait(f"document.querySelector('{block} .responses-wrapper')")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert all_violations(page) == []
    assert requested_from(page) == {urlsplit(over_http).netloc} and page.errors == []


def test_the_documentation_has_a_strict_policy(over_http):
    for path in ("/docs/", "/docs/docs.js", "/docs/swagger-ui-bundle.js"):
        response = requests.get(over_http + path, timeout=WAIT_S)
        assert response.status_code == 200
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "script-src 'self';" in policy
        assert "unsafe" not in policy
    for path in ("/docs/nothing.js", "/docs/..%2fdocumentation.py", "/docs//etc/passwd"):
        assert requests.get(over_http + path, timeout=WAIT_S).status_code == 404


def test_another_site_may_ask(page, over_http):
    """A browser lets a page of another origin read the answer and its headers."""
    page.open(f"{over_http.replace('127.0.0.1', 'localhost')}/healthz")
    script = f"fetch('{over_http}/api/v1/stats', {{headers: {{'X-Request-Id': 'a-page'}}}})"
    assert page.evaluate(f"{script}.then(answer => answer.headers.get('x-request-id'))") == "a-page"
