"""Every kind of page, one of each: as a client reads it, and as a browser shows it."""

import gzip
import re
from collections import namedtuple
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
WIDTH = "document.documentElement.scrollWidth"  # innerWidth of a mobile screen grows with it
ERRORS = {"/nothing": 404, "/tx/0x12": 400}
# Columns whose decimal points are not below each other, by their heads.
CROOKED_COLUMNS = Path(__file__).with_name("crooked_columns.js").read_text()


class Site(namedtuple("Site", "url paths daily", defaults=((),))):
    """A server, paths of its pages, and those that axe-core reads, and that are printed."""


# What needs no transaction, of a person and of a contract with hostile text.
OF_HOSTILE = """
    / /events /blocks /block/1 /txs /tokens /contracts /blobs /execution-requests /messages-to-l1
    /accounts /verified-contracts /token-transfers /internal-transfers /earnings /user-operations
    /keys /webhooks /watchlist /verify /status /charts /search?q=o /search?q=%3Cscript
    /token/{hostile} /token/{hostile}?tab=holders /token/{hostile}?tab=chart
    {person} {person}?tab=history {person}?tab=transfers {person}?tab=tokens {person}?tab=chart
    {person}?tab=approvals {person}?tab=pending {person}/transactions/sums {person}/transfers/sums
    {code}?tab=contract {code}?tab=events {code}?tab=bytecode {code}?tab=same-code
    {code}?tab=contract&view=read {code}?tab=contract&view=write {code}/compare/{hostile}
    /decode?data={data} /encode?function=approve(address,uint256)
    /simulate?from={me}&to={me}&value=0.000001
    {sent} {sent}?tab=events {sent}?tab=calls {sent}?tab=state {sent}?tab=gas
""".split()
# Of trades and items, and of the address with the most of each list.
OF_TRADES = """
    /dex /trades /pool/{pool} {sent} {sent}?tab=events&open=all {sent}?tab=calls&open=all
    /gas /charts?days=90 /blocks /txs /accounts /tokens /contracts /search?q=a
    {maker}?tab=history {maker}?tab=transfers {maker}?tab=internal
    {maker}?tab=trades {maker}?tab=tokens {maker}?tab=items
    {busy}?tab=history {busy}?tab=transfers {busy}?tab=internal
    {busy}?tab=trades {busy}?tab=tokens {busy}?tab=items
    {maker}/transactions/sums {maker}/transfers/sums {maker}/internal/sums
    /token/{token}?tab=items /token/{token}/transfers/sums /token/{traded}?tab=pools
    /nft/{token}/{id} /token/{held} /token/{held}?tab=holders /block/{block} /block/latest
""".split()


@pytest.fixture(scope="module")
def sites(explorer, explorer_url, hostile, over_http, scenario, chain):
    """A chain with hostile texts, one with user operations, and the scenario's."""
    newest = requests.get(f"{explorer_url}/api/v1/transactions", timeout=WAIT_S).json()
    names = {
        "me": explorer.me,
        "person": f"/address/{explorer.me}",
        "hostile": hostile,
        "code": f"/address/{hostile}",
        "data": page_fixtures.MULTICALL,
        "sent": f"/tx/{newest['transactions'][0]['hash']}",
    }
    daily = [f"{names['code']}?tab=contract", names["person"], names["sent"], "/", "/txs"]
    paths = [*(path.format(**names) for path in OF_HOSTILE), *ERRORS]
    truth, trade = scenario.truth, scenario.truth.dex_trades[-1]
    item = next(transfer for transfer in truth.token_transfers if transfer["tokenId"] is not None)
    busy = max(truth.addresses, key=lambda address: truth.addresses[address]["txCount"])
    names = {
        "maker": f"/address/{trade['maker']}",
        "busy": f"/address/{busy}",
        "sent": f"/tx/{trade['transactionHash']}",
        "pool": trade["pairAddress"],
        "traded": trade["tokenIn"],
        "token": item["tokenAddress"],
        "id": item["tokenId"],
        "held": max(truth.tokens, key=lambda token: token["holderCount"])["address"],
        "block": truth.blocks[3]["hash"],
    }
    of_trades = [path.format(**names) for path in OF_TRADES]
    operation = chain.operations[0]
    bundled = [f"/user-operation/{operation['hash']}", f"/tx/{operation['transactionHash']}"]
    with serving(chain.client.application) as url:
        yield [
            Site(explorer_url, paths, [*daily, "/nothing"]),
            Site(url, bundled),
            Site(over_http, of_trades),
        ]


@pytest.mark.thorough
def test_every_kind_of_page_is_safe_labelled_light_and_leads_somewhere(sites, explorer):
    """The home page leads to each that needs no argument. Of the last site's links, one is followed
    of those that only numbers distinguish."""
    rules, shown = explorer.app.url_map.bind(""), set()
    most_bytes = 50_000  # of a page, compressed

    def page_of(site, path):
        return requests.get(site.url + path, headers={"Accept": "text/html"}, timeout=WAIT_S)

    def links_of(answer):
        """Of its site, without the place in the page."""
        links = {a.get("href") or "" for tag, a in Markup(answer.text).tags if tag == "a"}
        return {link.partition("#")[0] for link in links} - {""}

    for site in sites:
        answers = {path: page_of(site, path) for path in site.paths}
        for path, answer in answers.items():
            assert answer.status_code == ERRORS.get(path, 200), path
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            require_no_inline_code(answer.text)
            assert "\u202e" not in answer.text, answer.url
            assert f"<span>Scan {VERSION}</span>" in answer.text  # no page has another `version`
            # Errors are rendered without the database, which knows the newest block.
            assert ("Newest block <a " in answer.text) == (answer.status_code < 400), answer.url
            assert len(gzip.compress(answer.content)) < most_bytes, path
        for path in (path for path in answers if not path.startswith("/tx/")):
            require_labels(answers[path].text)
        paths = [path.partition("?")[0] for path, answer in answers.items() if answer.ok]
        shown |= {rules.match(path, return_rule=True)[0].rule for path in paths}
    links = {link for answer in answers.values() for link in links_of(answer)}
    for link in {without_numbers(link): link for link in sorted(links)}.values():
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
    # What the pages' interface has beside pages: answers, what forms and Hardhat's links lead from,
    # and a blob, of test_blobs.py.
    no_page = re.compile(
        r"/(live|search/suggestions|blob/.*|nft/<address>|nft/.*picture.*|(server/)?repo-ui/.*)"
        r"|.*/(feed|abi|bytecode|disassembly|qr\.svg|source|compare)"
    )
    left = [page for page in pages - shown if not no_page.fullmatch(page)]
    of_menu = {link.partition("?")[0] for link in links_of(page_of(sites[0], "/"))}
    unlinked = {page for page in shown if "<" not in page} - of_menu
    assert (sorted(left), sorted(unlinked)) == ([], ["/search"])


def without_numbers(link):
    return re.sub(r"0x[0-9a-f]+|\d+", "…", link)


def kind_of(path):
    """A page's path and which of its tabs and views is shown."""
    path, _, query = path.partition("?")
    shown = [value for value in query.split("&") if value.startswith(("tab=", "view="))]
    return without_numbers(path), "&".join(shown)


@pytest.mark.thorough
def test_a_browser_shows_every_kind_of_page_whole_and_accessible(page, sites, hostile):
    """Wide and narrow, light and dark: nothing jumps while it is loaded or is beside the screen or
    the paper, where it is wide decimal points are below each other, and axe-core finds nothing."""
    pages = [(site, path) for site in sites for path in site.paths]
    # Those that are read daily or have the hostile contract's text, and of the others one of each
    # kind: of the last site that has it, whose lists are the fullest.
    last = {kind_of(path): (site, path) for site, path in pages}
    chosen = [
        (site, path)
        for site, path in pages
        if last[kind_of(path)] == (site, path) or path in site.daily or hostile in path
    ]
    faults, aligned = [], 0
    for site, path in chosen:
        faults += [(path, *fault) for fault in faults_of(page, site, path)]
        aligned += page.evaluate("document.querySelectorAll('td .fraction').length")
    assert faults == []
    assert aligned > 200


def faults_of(page, site, path):
    """Widths of the screen or the paper, and what is wrong there with a page, which stays open."""
    page_checks.show_at(page, 360)
    page_checks.show_theme(page, "light")
    page.open(site.url + path)
    if page_checks.least_shift(page, site.url + path):
        yield 360, "jumps"
    for width, theme in ((360, "dark"), (1280, "light")):
        page_checks.show_at(page, width)
        if page.evaluate(WIDTH) > width:
            yield width, "wider than the screen"
        for script in (page_checks.NOTHING_HIDDEN, page_checks.BROKEN_LINES):
            yield from ((width, fault) for fault in page.evaluate(script))
        if path in site.daily:
            page_checks.show_theme(page, theme)
            yield from ((width, theme, each) for each in page_checks.all_violations(page))
    yield from ((1280, fault) for fault in page.evaluate(CROOKED_COLUMNS))
    if path in site.daily:
        page_checks.show_at(page, PAPER_WIDTH)
        page.call("Emulation.setEmulatedMedia", media="print")
        if page.evaluate(WIDTH) > PAPER_WIDTH:
            yield PAPER_WIDTH, "wider than the paper"
        page.call("Emulation.setEmulatedMedia", media="")
