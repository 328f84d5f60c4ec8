"""Every kind of page, one of each: its weight, and in a browser whole and accessible."""

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import pytest
import requests
from werkzeug.serving import make_server

from app import create_app
from scan.brand import Brand
from scan.extensions.mail import subscriptions
from scan.extensions.mail.settings import Settings as MailSettings
from scan.hex import data
from tests.conftest import Played
from tests.extensions.user_operations.test_user_operations import Chain, chain
from tests.pages.test_browser import (
    ALL_RULES,
    AXE,
    axe_violations,
    paths_of,
    paths_with_trades,
    show_at,
    show_theme,
)
from tests.support.browser import Page
from tests.support.database import execute
from tests.support.explorer import Explorer
from tests.support.serving import in_thread

__all__ = ["chain"]

MOST_BYTES = 50_000  # of a page, compressed
WIDTHS = (360, 768, 1280, 1920)
PAPER_WIDTH = 794  # A4 at 96 dots an inch
OTHER = {  # answers of the pages' interface that are no pages
    *("/live", "/search/suggestions", "/verified-contracts/feed"),
    *("/address/<address>/feed", "/address/<address>/<name>/feed", "/token/<address>/feed"),
    *(
        f"/address/<address>/{name}"
        for name in ("abi", "bytecode", "disassembly", "qr.svg", "source")
    ),
    *("/nft/pictures/<digest>/<address>/<token_id>", "/nft/<address>/<token_id>/picture"),
    "/nft/<address>",  # of a form, which leads to an item
}


class Site(NamedTuple):
    """A server, and paths of its pages."""

    url: str
    paths: Sequence[str]


@pytest.fixture(scope="module")
def mailing(explorer: Explorer) -> Iterator[Site]:
    """The pages of mail, with a subscription that waits to be confirmed."""
    settings = replace(
        explorer.settings,
        brand=Brand(url="https://scan.example"),
        of_extensions={MailSettings: MailSettings("smtp://127.0.0.1:9/?from=scan@example.org")},
    )
    person = data(explorer.anvil.accounts[0])
    subscriptions.ask(explorer.database, "a@example.org", person, ["tx"], "10.9.0.7")
    [(token,)] = execute(explorer.settings.database_url, "SELECT token FROM mail_subscriptions")
    paths = ["/mail", f"/mail/confirm?token={token}", f"/mail/leave?token={token}"]
    app = create_app(settings)
    with in_thread(make_server("127.0.0.1", 0, app, threaded=True)) as url:
        yield Site(url, paths)


@pytest.fixture(scope="module")
def bundled(chain: Chain) -> Iterator[Site]:
    """A chain with user operations."""
    operation = chain.operations[0]
    paths = [f"/user-operation/{operation['hash']}", f"/tx/{operation['transactionHash']}"]
    app = chain.client.application
    with in_thread(make_server("127.0.0.1", 0, app, threaded=True)) as url:
        yield Site(url, paths)


@pytest.fixture(scope="module")
def sites(
    explorer: Explorer,
    explorer_url: str,
    hostile: str,
    over_http: str,
    scenario: Played,
    mailing: Site,
    bundled: Site,
) -> list[Site]:
    newest = requests.get(f"{explorer_url}/api/v1/transactions", timeout=10).json()
    hash_ = newest["transactions"][0]["hash"]
    traces = [f"/tx/{hash_}?tab={tab}" for tab in ("events", "calls", "state")]
    of_explorer = dict.fromkeys([*paths_of(explorer, hostile), f"/tx/{hash_}", *traces, "/tx/0x12"])
    return [
        Site(explorer_url, [*of_explorer]),
        Site(over_http, paths_with_trades(scenario)),
        mailing,
        bundled,
    ]


def test_every_kind_of_page_is_light_and_looked_at(sites: list[Site], explorer: Explorer) -> None:
    """The browser's tests below have one of each kind."""
    rules, shown, heavy = explorer.app.url_map.bind(""), set(), {}
    for site in sites:
        for path in site.paths:
            answer = requests.get(site.url + path, headers={"Accept": "text/html"}, timeout=60)
            size = len(gzip.compress(answer.content))
            if size > MOST_BYTES:
                heavy[path] = size
            if answer.ok:
                rule, _ = rules.match(path.partition("?")[0], return_rule=True)
                shown.add(rule.rule)
    pages = {
        rule.rule
        for rule in explorer.app.url_map.iter_rules()
        if "GET" in (rule.methods or ())
        and rule.endpoint.startswith("pages_")
        and not rule.endpoint.startswith(("pages_redirects", "pages_static"))
    }
    assert heavy == {}
    assert sorted(pages - shown - OTHER) == []


@pytest.mark.long
def test_axe_finds_nothing_on_any_page(page: Page, sites: list[Site]) -> None:
    """Wide and narrow, light and dark; and nothing is beside the screen at four widths, nor beside
    the paper."""
    faults = {}
    for site in sites:
        for path in site.paths:
            show_at(page, 1280)
            page.open(site.url + path)
            page.evaluate(AXE.read_text() + "; undefined")
            for theme in ("light", "dark"):
                show_theme(page, theme)
                for width in WIDTHS:
                    show_at(page, width)
                    # Where it is wider, innerWidth of a mobile screen is, too.
                    if not page.evaluate(f"document.documentElement.scrollWidth <= {width}"):
                        faults[path, width] = ["wider than the screen"]
                    if width in (360, 1280) and (found := axe_violations(page, ALL_RULES)):
                        faults[path, width, theme] = found
            show_at(page, PAPER_WIDTH)
            page.call("Emulation.setEmulatedMedia", media="print")
            if not page.evaluate(f"document.documentElement.scrollWidth <= {PAPER_WIDTH}"):
                faults[path, PAPER_WIDTH] = ["wider than the paper"]
    page.call("Emulation.clearDeviceMetricsOverride")
    page.call("Emulation.setEmulatedMedia", features=[])
    assert faults == {}
