"""What visitors look for, from the home page in Chromium: the clicks and filled fields it takes.

`pytest -s` prints the table. A visitor has the hash, address or number at hand; a search is one
field and the click that sends it.
"""

import json
from collections import namedtuple
from collections.abc import Callable

import pytest
import requests
from werkzeug.serving import make_server

from scan.extensions.demo import demo_run
from scan.extensions.demo.tests.conftest import demo_node
from scan.extensions.memos.tests.conftest import INVOICE, NOTHING, chain
from tests.support.indexing import Indexing
from tests.support.serving import gunicorn, in_thread

__all__ = ["chain", "demo_node"]
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

    def sees(self, *texts):
        for text in texts:
            self.page.wait(f"document.body.innerText.includes({json.dumps(text)})")


class Known(namedtuple("Known", "failed deposit trade person other nonce block")):
    """What a visitor of the demo chain has at hand."""


Task = Callable[[Visitor, Known], None]


def why_did_it_fail(visitor, known):
    visitor.search(known.failed)
    visitor.sees("The call reverted", "failed")


def who_deployed_it(visitor, known):
    visitor.search(SAVINGS)
    visitor.sees("Creator", "Created")


def did_the_deposit_arrive(visitor, known):
    visitor.search(known.deposit)
    visitor.sees("success", "confirmation", "finalized")


def same_contract_as(visitor, known):
    visitor.search(SAVINGS)
    visitor.click("Same code")
    visitor.sees("Same code")


def holdings_at_a_block(visitor, known):
    visitor.search(known.person)
    visitor.click("Tokens (…")
    visitor.fill("input[name=block]", str(known.block))
    visitor.click("Apply")
    visitor.sees(f"block {known.block:,}")


def add_a_token(visitor, known):
    visitor.search("MUSD")
    visitor.click("Meridian Dollar", "main a")
    visitor.click("Add to wallet")
    visitor.page.wait("asked.some((call) => call.method === 'wallet_watchAsset')")


def link_to_a_row(visitor, known):
    visitor.search(known.person)
    visitor.click("Token transfers (…")
    visitor.click("0x…", "main td a[href*='#transfer-']")
    visitor.page.wait("document.querySelector(':target')")


def gas_of_a_method(visitor, known):
    visitor.search(known.trade)
    visitor.click("Gas", "main a")
    visitor.sees("usually uses")


def for_the_taxes(visitor, known):
    visitor.search(known.person)
    visitor.click("Sums by month")
    visitor.sees("CSV")


def largest_holders_and_change(visitor, known):
    visitor.search(TOKEN)
    visitor.sees("joined")
    visitor.click("Holders (…")
    visitor.sees("Share")


def storage_changes(visitor, known):
    visitor.search(known.trade)
    visitor.click("State changes")
    visitor.sees("accounts changed")


def feed(visitor, known):
    visitor.search(known.person)
    visitor.click("Feed: transactions and transfers")


def mail(visitor, known):
    visitor.search(known.person)
    visitor.click("E-mail alerts for this address")
    visitor.sees("Your e-mail address")


def copy_the_abi(visitor, known):
    visitor.search(SAVINGS)
    visitor.click("Contract")
    visitor.click("Copy")


def compare_two_accounts(visitor, known):
    visitor.search(known.person)
    visitor.click("Filter")
    visitor.fill("input[name=counterparty]", known.other)
    visitor.click("Apply")
    visitor.sees("newest first")


def by_nonce(visitor, known):
    visitor.search(known.person)
    visitor.click("Filter")
    visitor.fill("input[name=nonce]", str(known.nonce))
    visitor.click("Apply")
    visitor.sees("1 transaction")


def transfers_of_a_block(visitor, known):
    visitor.search(str(known.block))
    visitor.click("…", "main a[href^='/token-transfers']")
    visitor.sees("newest first")


TASKS: tuple[Task, ...] = (
    why_did_it_fail,
    who_deployed_it,
    did_the_deposit_arrive,
    same_contract_as,
    holdings_at_a_block,
    add_a_token,
    link_to_a_row,
    gas_of_a_method,
    for_the_taxes,
    largest_holders_and_change,
    storage_changes,
    feed,
    mail,
    copy_the_abi,
    compare_two_accounts,
    by_nonce,
    transfers_of_a_block,
)


Site = namedtuple("Site", "url known")


@pytest.fixture(scope="module")
def site(postgres, template, demo_node, tmp_path_factory):
    brand = tmp_path_factory.mktemp("brand") / "brand.toml"
    brand.write_text('url = "https://scan.example.org"\n')
    environment = {
        "SCAN_RATE_LIMIT_PAGES": "100000/minute",
        "SCAN_RATE_LIMIT_ANONYMOUS": "100000/minute",
        "SCAN_BRAND": str(brand),
        "SCAN_SMTP_URL": "smtp://127.0.0.1:9/?from=scan@example.org",
    }
    with postgres.cloned(template) as url:
        indexing = Indexing(url, demo_node.url)
        indexing.run_until(demo_node.recording.head)
        demo_run.load(indexing.settings)
        with gunicorn(url, RPC_URL=demo_node.url, **environment) as served:
            yield Site(served, known_of(served))


def known_of(url):
    def read(path):
        return requests.get(f"{url}/api/v1{path}", timeout=60).json()

    transactions = read("/transactions?limit=100")["transactions"]
    failed = next(t for t in transactions if not t["status"] and t["methodId"])
    deposit = next(t for t in transactions if t["methodId"] is None)
    traded = read("/dex-trades?limit=1")["trades"][0]
    sent = read(f"/addresses/{traded['maker']}/transactions?limit=1")["transactions"][0]
    return Known(
        failed=failed["hash"],
        deposit=deposit["hash"],
        trade=traded["transactionHash"],
        person=traded["maker"],
        other=sent["toAddress"],
        nonce=sent["nonce"] or 0,
        block=traded["blockNumber"],
    )


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_a_task_takes_few_clicks(page, site, task):
    page.before_scripts(WALLET)
    visitor = Visitor(page, site.url)
    task(visitor, site.known)
    print(f"\n{task.__name__.replace('_', ' ')}: {visitor.clicks} clicks, {visitor.fields} fields")
    assert visitor.clicks <= MOST_CLICKS
    assert page.errors == []


def test_a_memo_and_a_pending_transaction_take_few_clicks(page, chain):
    """The demo chain has neither."""
    sent = chain.send(INVOICE)
    chain.index()
    pending = chain.node.send(chain.node.accounts[1], NOTHING, value=1)
    page.before_scripts(WALLET)
    with in_thread(make_server("127.0.0.1", 0, chain.client.application, threaded=True)) as url:
        visitor = Visitor(page, url)
        visitor.search(INVOICE)
        visitor.click(INVOICE, "main a")
        visitor.page.wait(f"document.querySelector('a[href=\"/tx/{sent}\"]')")
        print(f"\nfind a memo: {visitor.clicks} clicks, {visitor.fields} fields")
        assert visitor.clicks <= MOST_CLICKS
        visitor = Visitor(page, url)
        visitor.search(pending)
        visitor.click("Speed up or cancel")
        visitor.click("Cancel (…")
        visitor.sees("wallet")
        print(f"cancel: {visitor.clicks} clicks, {visitor.fields} fields")
        assert visitor.clicks <= MOST_CLICKS
