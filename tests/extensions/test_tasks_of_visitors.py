"""What visitors look for, from the home page in Chromium: the clicks and filled fields it takes.

`pytest -s` prints the table. A visitor has the hash, address or number at hand; a search is one
field and the click that sends it.
"""

import json
from collections import namedtuple

import pytest
import requests

from scan.extensions.demo import demo_run
from scan.extensions.demo.tests.conftest import demo_node
from tests.support import WAIT_S
from tests.support.anvil import Anvil
from tests.support.indexing import Indexing
from tests.support.serving import gunicorn

__all__ = ["demo_node"]
pytestmark = pytest.mark.long

MOST_CLICKS = 3
# The visible element with a text, or whose text begins with one that ends in "…".
FIND = """
[...document.querySelectorAll(%s)].find((element) => {
  const words = (element.innerText || element.ariaLabel || '').trim().replace(/\\s+/g, ' ');
  const text = %s;
  const matches = text.endsWith('…') ? words.startsWith(text.slice(0, -1)) : words === text;
  return matches && element.checkVisibility();
})"""
CLICKED = "a, button, summary, label"
WALLET = """
window.asked = [];
window.ethereum = { request: async (call) => { window.asked.push(call); return '0x7a69'; },
  on() {} };
"""
# Of the demo chain: a verified contract with an owner, and a token.
SAVINGS = "0x22753e4264fddc6181dc7cce468904a80a363e44"
TOKEN = "0x5fbdb2315678afecb367f032d93f642f64180aa3"


class Visitor:
    """Counts what it takes."""

    def __init__(self, page, url):
        self.page, self.clicks, self.fields = page, 0, 0
        page.open(url)

    def click(self, text, selector=CLICKED):
        found = FIND % (json.dumps(selector), json.dumps(text))
        self.page.wait(found)
        leads_on = self.page.evaluate(
            f"(() => {{ const e = {found}; const a = e.closest('a[href]');"
            " return Boolean(a && !a.getAttribute('href').startsWith('#') && !a.download)"
            " || Boolean(e.form && e.type === 'submit'); })()"
        )
        self.page.evaluate(f"(window.isOld = true, {found}.click())")
        if leads_on:
            self.page.wait("!window.isOld && document.readyState === 'complete'")
        self.clicks += 1

    def fill(self, selector, text):
        self.page.wait(f"document.querySelector({json.dumps(selector)})")
        self.page.fill(selector, text)
        self.fields += 1

    def search(self, text):
        self.fill("input[name=q]", text)
        self.click("Search", "main button, header button")

    def wait(self, condition):
        self.page.wait(condition)

    def sees(self, *texts):
        for text in texts:
            self.wait(f"document.body.innerText.includes({json.dumps(text)})")


SEARCH, CLICK, FILL, SEES = Visitor.search, Visitor.click, Visitor.fill, Visitor.sees
# By names of what a visitor of the demo chain has at hand.
TASKS = {
    "why did it fail": [(SEARCH, "{failed}"), (SEES, "The call reverted", "failed")],
    "who deployed it": [(SEARCH, SAVINGS), (SEES, "Creator", "Created")],
    "did the deposit arrive": [
        (SEARCH, "{deposit}"),
        (SEES, "success", "confirmation", "finalized"),
    ],
    "same contract as": [(SEARCH, SAVINGS), (CLICK, "Same code"), (SEES, "Same code")],
    "holdings at a block": [
        (SEARCH, "{person}"),
        (CLICK, "Tokens (…"),
        (FILL, "input[name=block]", "{block}"),
        (CLICK, "Apply"),
        (SEES, "block {block:,}"),
    ],
    "add a token": [
        (SEARCH, "MUSD"),
        (CLICK, "Meridian Dollar", "main a"),
        (CLICK, "Add to wallet"),
        (Visitor.wait, "asked.some((call) => call.method === 'wallet_watchAsset')"),
    ],
    "link to a row": [
        (SEARCH, "{person}"),
        (CLICK, "Token transfers (…"),
        (CLICK, "0x…", "main td a[href*='#transfer-']"),
        (Visitor.wait, "document.querySelector(':target')"),
    ],
    "gas of a method": [(SEARCH, "{trade}"), (CLICK, "Gas", "main a"), (SEES, "usually uses")],
    "for the taxes": [(SEARCH, "{person}"), (CLICK, "Sums by month"), (SEES, "CSV")],
    "largest holders and change": [
        (SEARCH, TOKEN),
        (SEES, "joined"),
        (CLICK, "Holders (…"),
        (SEES, "Share"),
    ],
    "storage changes": [(SEARCH, "{trade}"), (CLICK, "State changes"), (SEES, "accounts changed")],
    "feed": [(SEARCH, "{person}"), (CLICK, "Feed: transactions and transfers")],
    "copy the ABI": [(SEARCH, SAVINGS), (CLICK, "Contract"), (CLICK, "Copy")],
    "compare two accounts": [
        (SEARCH, "{person}"),
        (CLICK, "Filter"),
        (FILL, "input[name=counterparty]", "{other}"),
        (CLICK, "Apply"),
        (SEES, "newest first"),
    ],
    "by nonce": [
        (SEARCH, "{person}"),
        (CLICK, "Filter"),
        (FILL, "input[name=nonce]", "{nonce}"),
        (CLICK, "Apply"),
        (SEES, "1 transaction"),
    ],
    "transfers of a block": [
        (SEARCH, "{block}"),
        (CLICK, "…", "main a[href^='/token-transfers']"),
        (SEES, "newest first"),
    ],
}
Site = namedtuple("Site", "url known")


@pytest.fixture(scope="module")
def site(postgres, template, demo_node, tmp_path_factory):
    brand = tmp_path_factory.mktemp("brand") / "brand.toml"
    brand.write_text('url = "https://scan.example.org"\n')
    environment = {
        "SCAN_RATE_LIMIT_PAGES": "100000/minute",
        "SCAN_RATE_LIMIT_ANONYMOUS": "100000/minute",
        "SCAN_BRAND": str(brand),
    }
    with postgres.cloned(template) as url:
        indexing = Indexing(url, demo_node.url)
        indexing.run_until(demo_node.recording.head)
        demo_run.load(indexing.settings)
        with gunicorn(url, RPC_URL=demo_node.url, **environment) as served:
            yield Site(served, known_of(served))


def known_of(url):
    def read(path):
        return requests.get(f"{url}/api/v1{path}", timeout=WAIT_S).json()

    transactions = read("/transactions?limit=100")["transactions"]
    failed = next(t for t in transactions if not t["status"] and t["methodId"])
    deposit = next(t for t in transactions if t["methodId"] is None)
    traded = read("/dex-trades?limit=1")["trades"][0]
    sent = read(f"/addresses/{traded['maker']}/transactions?limit=1")["transactions"][0]
    return {
        "failed": failed["hash"],
        "deposit": deposit["hash"],
        "trade": traded["transactionHash"],
        "person": traded["maker"],
        "other": sent["toAddress"],
        "nonce": sent["nonce"] or 0,
        "block": traded["blockNumber"],
    }


@pytest.mark.parametrize("task", TASKS)
def test_a_task_takes_few_clicks(page, site, task):
    page.before_scripts(WALLET)
    visitor = Visitor(page, site.url)
    for step, *texts in TASKS[task]:
        step(visitor, *(text.format(**site.known) for text in texts))
    print(f"\n{task}: {visitor.clicks} clicks, {visitor.fields} fields")
    assert visitor.clicks <= MOST_CLICKS
    assert page.errors == []


def test_a_pending_transaction_takes_few_clicks(page, database_url):
    """The demo chain has none."""
    with Anvil() as anvil:
        Indexing(database_url, anvil.url).run_until(anvil.head())
        pending = anvil.send(*anvil.accounts[:2], value=1)
        page.before_scripts(WALLET)
        with gunicorn(database_url, RPC_URL=anvil.url) as url:
            visitor = Visitor(page, url)
            visitor.search(pending)
            visitor.click("Speed up or cancel")
            visitor.click("Cancel (…")
            visitor.sees("wallet")
            print(f"cancel: {visitor.clicks} clicks, {visitor.fields} fields")
            assert visitor.clicks <= MOST_CLICKS
