"""Every kind of page, one of each: as a client reads it, and as a browser shows it."""

import gzip
import re
from collections import namedtuple
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from scan import VERSION
from scan.extensions.user_operations.tests.operations_chain import chain
from tests.pages.markup import Markup, require_labels, require_no_inline_code
from tests.support import WAIT_S, page_checks, page_fixtures
from tests.support.serving import serving

__all__ = ["chain"]

PAPER_WIDTH = 794  # A4 at 96 dots an inch
ERRORS = {"/nothing": 404, "/tx/0x12": 400}
# Columns whose decimal points are not below each other, by their heads.
CROOKED_COLUMNS = Path(__file__).with_name("crooked_columns.js").read_text()


class Site(namedtuple("Site", "url paths daily is_followed", defaults=((), False))):
    """A server, paths of its pages, those that axe-core reads in make test-all as well, and whether
    their links are followed."""


@contextmanager
def site_of(app, paths):
    with serving(app) as url:
        yield Site(url, paths)


@pytest.fixture(scope="module")
def bundled(chain):
    """A chain with user operations."""
    operation = chain.operations[0]
    paths = [f"/user-operation/{operation['hash']}", f"/tx/{operation['transactionHash']}"]
    with site_of(chain.client.application, paths) as site:
        yield site


@pytest.fixture(scope="module")
def sites(explorer, explorer_url, hostile, over_http, scenario, bundled):
    newest = requests.get(f"{explorer_url}/api/v1/transactions", timeout=WAIT_S).json()
    sent = f"/tx/{newest['transactions'][0]['hash']}"
    person, contract = explorer.anvil.accounts[0], f"/address/{hostile}?tab=contract"
    daily = ["/", "/txs", sent, f"/address/{person}", contract, "/nothing"]
    paths = [*paths_of(explorer, hostile), *(f"{sent}?tab={tab}" for tab in TABS), *LISTS, *daily]
    return [
        Site(explorer_url, [*dict.fromkeys([*paths, *ERRORS])], daily),
        Site(over_http, paths_with_trades(scenario), is_followed=True),
        bundled,
    ]


LISTS = ("/blobs", "/execution-requests", "/messages-to-l1")
TABS = ("events", "calls", "state", "gas")
TABS_OF_CONTRACT = ("contract", "events", "bytecode", "same-code")


def paths_with_trades(scenario):
    """Kinds of pages that need trades and items; the address with the most of each list."""
    truth, trade = scenario.truth, scenario.truth.dex_trades[-1]
    item = next(transfer for transfer in truth.token_transfers if transfer["tokenId"] is not None)
    busy = max(truth.addresses, key=lambda address: truth.addresses[address]["txCount"])
    held = max(truth.tokens, key=lambda token: token["holderCount"])["address"]
    token, sent = f"/token/{item['tokenAddress']}", f"/tx/{trade['transactionHash']}"
    tabs = ("history", "transfers", "internal", "trades", "tokens", "items")
    return [
        "/dex",
        "/trades",
        f"/pool/{trade['pairAddress']}",
        sent,
        *(f"{sent}?tab={tab}&open=all" for tab in ("events", "calls")),
        "/gas",
        "/charts?days=90",
        "/blocks",
        "/txs",
        "/accounts",
        "/tokens",
        "/contracts",
        *(f"/address/{address}?tab={tab}" for address in (trade["maker"], busy) for tab in tabs),
        f"{token}?tab=items",
        f"/token/{trade['tokenIn']}?tab=pools",
        f"/nft/{item['tokenAddress']}/{item['tokenId']}",
        *(f"/address/{trade['maker']}/{name}/sums" for name in ("transactions", "transfers")),
        f"/address/{trade['maker']}/internal/sums",
        f"{token}/transfers/sums",
        f"/token/{held}",
        f"/token/{held}?tab=holders",
        "/search?q=a",
        f"/block/{truth.blocks[3]['hash']}",
        "/block/latest",
    ]


def paths_of(explorer, hostile):
    """One of each kind of page that needs no transaction; those with hostile text among them."""
    person = explorer.anvil.accounts[0]
    tabs = ("history", "transfers", "tokens", "chart", "approvals", "pending")
    lists = ("accounts", "verified-contracts", "token-transfers", "internal-transfers", "earnings")
    return [
        "/",
        "/events",
        "/blocks",
        "/block/1",
        "/txs",
        "/tokens",
        f"/token/{hostile}",
        "/contracts",
        f"/token/{hostile}?tab=holders",
        f"/token/{hostile}?tab=chart",
        "/search?q=o",
        f"/address/{person}",
        *(f"/address/{person}?tab={tab}" for tab in tabs),
        *(f"/address/{person}/{rows}/sums" for rows in ("transactions", "transfers")),
        *(f"/address/{hostile}?tab={tab}" for tab in TABS_OF_CONTRACT),
        f"/address/{hostile}/compare/{hostile}",
        *(f"/address/{hostile}?tab=contract&view={view}" for view in ("read", "write")),
        *(f"/{name}" for name in (*lists, "user-operations", "keys", "webhooks", "watchlist")),
        "/verify",
        "/status",
        "/charts",
        "/search?q=%3Cscript",
        f"/decode?data={page_fixtures.MULTICALL}",
        "/encode?function=approve(address,uint256)",
        f"/simulate?from={person}&to={person}&value=0.000001",
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("most_alike", [1, pytest.param(3, marks=pytest.mark.long)])
def test_every_kind_of_page_is_safe_labelled_light_and_leads_somewhere(sites, explorer, most_alike):
    """Of links that are alike some are followed."""
    rules, shown, links = explorer.app.url_map.bind(""), set(), {}  # by site
    most_bytes = 50_000  # of a page, compressed
    for site in sites:
        answers = {path: page_of(site, path) for path in site.paths}
        for path, answer in answers.items():
            assert answer.status_code == ERRORS.get(path, 200), path
            require_a_safe_page(answer)
            assert len(gzip.compress(answer.content)) < most_bytes, path
        for path in (path for path in answers if not path.startswith("/tx/")):
            require_labels(answers[path].text)
        paths = [path.partition("?")[0] for path, answer in answers.items() if answer.ok]
        shown |= {rules.match(path, return_rule=True)[0].rule for path in paths}
        links[site.url] = {link for answer in answers.values() for link in links_of(answer)}
    followed = [
        (site, link)
        for site in sites
        if site.is_followed
        for link in some(links[site.url], most_alike)
    ]
    assert followed
    for site, link in followed:
        answer = page_of(site, link)
        # Of burnt or counterfactual addresses the index may know nothing.
        is_unknown = answer.status_code == 404 and link.startswith("/address")
        assert answer.ok or is_unknown, (link, answer.text[:300])
    pages = {
        rule.rule
        for rule in explorer.app.url_map.iter_rules()
        if "GET" in (rule.methods or ())
        and rule.endpoint.startswith("pages_")
        and not rule.endpoint.startswith(("pages_redirects", "pages_static"))
    }
    other = {  # answers of the pages' interface that are no pages
        "/live",
        "/search/suggestions",
        "/verified-contracts/feed",
        "/address/<address>/feed",
        "/address/<address>/<name>/feed",
        "/address/<address>/compare",  # of a form, which leads to a comparison
        "/token/<address>/feed",
        *(
            f"/address/<address>/{name}"
            for name in ("abi", "bytecode", "disassembly", "qr.svg", "source")
        ),
        "/nft/pictures/<digest>/<address>/<token_id>",
        "/nft/<address>/<token_id>/picture",
        "/blob/<versioned_hash>",  # test_blobs.py
        "/nft/<address>",  # of a form, which leads to an item
        "/repo-ui/<chain_id>/<address>",  # which Hardhat prints, and leads to a contract
        "/server/repo-ui/<chain_id>/<address>",
        "/repo-ui/contracts/<match>/<chain_id>/<address>/",
        "/server/repo-ui/contracts/<match>/<chain_id>/<address>/",
    }
    assert sorted(pages - shown - other) == []


def page_of(site, path):
    return requests.get(site.url + path, headers={"Accept": "text/html"}, timeout=WAIT_S)


def links_of(answer):
    """Of its site, without the place in the page."""
    links = {a.get("href") or "" for tag, a in Markup(answer.text).tags if tag == "a"}
    return {link.partition("#")[0] for link in links} - {""}


def some(links, most_alike):
    """So many of those that only numbers distinguish."""
    alike = {}
    for link in sorted(links):
        alike.setdefault(without_numbers(link), []).append(link)
    return [link for links in alike.values() for link in links[:most_alike]]


def require_a_safe_page(answer):
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    require_no_inline_code(answer.text)
    assert "\u202e" not in answer.text, answer.url
    assert f"<span>Scan {VERSION}</span>" in answer.text  # no page has another `version`
    # Errors are rendered without the database, which knows the newest block.
    assert ("Newest block <a " in answer.text) == (answer.status_code < 400), answer.url


def without_numbers(link):
    return re.sub(r"0x[0-9a-f]+|\d+", "…", link)


def one_of_each_kind(sites, hostile):
    """The sites with those pages that are read daily or have the hostile contract's text, and of
    the others one of each kind: of the last site that has it, whose lists are the fullest."""
    last = {kind_of(path): (site.url, path) for site in sites for path in site.paths}

    def is_chosen(site, path):
        return last[kind_of(path)] == (site.url, path) or path in site.daily or hostile in path

    return [
        site._replace(paths=[path for path in site.paths if is_chosen(site, path)])
        for site in sites
    ]


def kind_of(path):
    """A page's path and which of its tabs and views is shown."""
    path, _, query = path.partition("?")
    shown = [value for value in query.split("&") if value.startswith(("tab=", "view="))]
    return without_numbers(path), "&".join(shown)


@pytest.mark.thorough
@pytest.mark.parametrize("is_whole", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_browser_shows_every_kind_of_page_whole_and_accessible(page, sites, hostile, is_whole):
    """Wide and narrow, light and dark: nothing jumps while it is loaded or is beside the screen or
    the paper, where it is wide decimal points are below each other, and axe-core finds nothing."""
    faults, aligned = [], 0
    for site in sites if is_whole else one_of_each_kind(sites, hostile):
        for path in site.paths:
            faults += [(path, *fault) for fault in faults_of(page, site, path, is_whole)]
            aligned += page.evaluate("document.querySelectorAll('td .fraction').length")
    assert faults == []
    assert aligned > 200


def faults_of(page, site, path, is_whole):
    """Widths of the screen or the paper, and what is wrong there with a page, which stays open."""
    for width in (360, 1280) if is_whole else (360,):
        page_checks.show_at(page, width)
        page_checks.show_theme(page, "light")
        page.open(site.url + path)
        if page_checks.least_shift(page, site.url + path):
            yield width, "jumps"
    for width in (360, 768, 1280, 1920) if is_whole else (360, 1280):
        page_checks.show_at(page, width)
        yield from ((width, fault) for fault in misplaced(page, width))
    if is_whole or path in site.daily:
        yield from barriers(page, is_whole)
    if is_whole and not fits_on_paper(page):
        yield PAPER_WIDTH, "wider than the paper"


def misplaced(page, width):
    # Where it is wider, innerWidth of a mobile screen is, too.
    fits = page.evaluate(f"document.documentElement.scrollWidth <= {width}")
    faults = [] if fits else ["wider than the screen"]
    if width in (360, 1280):
        faults += page.evaluate(page_checks.NOTHING_HIDDEN)
        faults += page.evaluate(page_checks.BROKEN_LINES)
    if width == 1280:
        faults += page.evaluate(CROOKED_COLUMNS)
    return faults


def barriers(page, is_whole):
    """What axe-core finds; in make test-all at one width in each theme."""
    page.evaluate(page_checks.AXE.read_text() + "; undefined")
    crossed = [(1280, "dark"), (360, "light")] if is_whole else []
    for width, theme in ((1280, "light"), (360, "dark"), *crossed):
        page_checks.show_at(page, width)
        page_checks.show_theme(page, theme)
        for violation in page_checks.axe_violations(page, page_checks.ALL_RULES):
            yield width, theme, violation


def fits_on_paper(page):
    page_checks.show_at(page, PAPER_WIDTH)
    page.call("Emulation.setEmulatedMedia", media="print")
    fits = page.evaluate(f"document.documentElement.scrollWidth <= {PAPER_WIDTH}")
    page.call("Emulation.setEmulatedMedia", media="")
    return bool(fits)
