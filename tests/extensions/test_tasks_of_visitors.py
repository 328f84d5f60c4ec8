"""What visitors look for, from the home page in Chromium: the clicks and filled fields it takes, on
the chain of scan.extensions.demo.

`pytest -s` prints the table. A visitor has the hash, address or number at hand; a search is one
field and the click that sends it.
"""

import json
import sys
from collections import namedtuple

import pytest
import requests
from eth_account import Account
from eth_account.messages import encode_defunct

from tests.support import WAIT_S
from tests.support.anvil import Anvil
from tests.support.indexing import Indexing
from tests.support.scan_run import scan_run
from tests.support.serving import gunicorn

pytestmark = pytest.mark.long

# The visible element with a text, or whose text begins with one that ends in "…".
FIND = """
[...document.querySelectorAll(%s)].find((element) => {
  const words = (element.innerText || element.ariaLabel || '').trim().replace(/\\s+/g, ' ');
  const text = %s;
  const matches = text.endsWith('…') ? words.startsWith(text.slice(0, -1)) : words === text;
  return matches && element.checkVisibility();
})"""
CLICKED = "a, button, summary, label"
# Signs what `sign` signs; its account is anvil's first one, which everybody knows.
ACCOUNT = Account.from_key("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
WALLET = f"""
window.asked = [];
window.ethereum = {{ request: async (call) => {{
  window.asked.push(call);
  if (call.method === 'eth_requestAccounts') return ['{ACCOUNT.address}'];
  if (call.method !== 'personal_sign') return '0x7a69';
  window.toSign = call.params[0];
  return new Promise((resolve) => {{ window.signed = resolve; }});
}}, on() {{}} }};
"""
# Of the demo chain: a proxy, a verified contract with an owner, and a token.
PROXY = "0xa7c59f010700930003b33ab25a7a0679c860f29c"
SAVINGS = "0x22753e4264fddc6181dc7cce468904a80a363e44"
TOKEN = "0x5fbdb2315678afecb367f032d93f642f64180aa3"


class Visitor:
    """Counts what it takes."""

    def __init__(self, page, url):
        self.page, self.clicks, self.fields = page, 0, 0
        page.open(url)

    def click(self, text, selector=CLICKED):
        element = FIND % (json.dumps(selector), json.dumps(text))
        self.page.wait(element)
        leads_on = self.page.evaluate(
            f"(() => {{ const e = {element}; const a = e.closest('a[href]');"
            " const leads = a && !/^#/.test(a.getAttribute('href')) && !a.hasAttribute('download');"
            " return Boolean(leads)"
            " || Boolean(e.form && e.type === 'submit'); })()"
        )
        self.page.evaluate(f"(window.isOld = true, {element}.click())")
        if leads_on:
            self.page.wait("!window.isOld && document.readyState === 'complete'")
        self.clicks += 1

    def press(self, text, selector=CLICKED):
        """Click what a script of the page answers."""
        element = FIND % (json.dumps(selector), json.dumps(text))
        self.page.wait(element)
        self.page.evaluate(f"{element}.click()")
        self.clicks += 1

    def fill(self, selector, text):
        self.page.wait(f"document.querySelector({json.dumps(selector)})")
        self.page.fill(selector, text)
        self.fields += 1

    def search(self, text):
        self.fill("input[name=q]", text)
        self.click("Search", "main button, header button")

    def sign(self):
        """The wallet's own window, which is no click of the page."""
        self.page.wait("window.toSign")
        message = encode_defunct(hexstr=self.page.evaluate("toSign"))
        signature = bytes(ACCOUNT.sign_message(message).signature).hex()
        self.page.evaluate(f"signed('0x{signature}')")

    def wait(self, condition):
        self.page.wait(condition)

    def sees(self, *texts):
        for text in texts:
            self.wait(f"document.body.innerText.includes({json.dumps(text)})")


SEARCH, CLICK, FILL, SEES = Visitor.search, Visitor.click, Visitor.fill, Visitor.sees
WAIT, SIGN, PRESS = Visitor.wait, Visitor.sign, Visitor.press
TRANSFER = f"0xa9059cbb{'0' * 24}{PROXY[2:]}{'0' * 62}64"
# Twenty that people have daily, in the order of the table that `pytest -s` prints, and the clicks
# that each takes.
DAILY = {
    "who funded an address": (1, (SEARCH, "{person}"), (SEES, "Funded by", "with")),
    "what a proxy was upgraded to": (
        1, (SEARCH, PROXY), (SEES, "Upgraded to", "HarborSavings", "since block"),
    ),
    "whose a selector is": (
        2, (SEARCH, "0xa9059cbb"), (CLICK, "0xa9059cbb", "main a"), (SEES, "transfer"),
    ),
    "read a view function": (
        3, (SEARCH, PROXY), (CLICK, "Contract", "main a"), (CLICK, "Read", "main a"),
        (SEES, "totalDeposits"),
    ),
    "why a transaction failed, and where": (
        1, (SEARCH, "{refused}"), (SEES, "InsufficientDeposit at Savings.sol:38"),
    ),
    "shares of a token's holders": (
        2, (SEARCH, TOKEN), (CLICK, "Holders (…"), (WAIT, "document.querySelector('td meter')"),
    ),
    "approvals of an address": (
        2, (SEARCH, "{owner}"), (CLICK, "Approvals"), (SEES, "Demo router", "unlimited"),
    ),
    "an NFT's owner and history": (
        2, (SEARCH, "LANTERN #7"), (CLICK, "Night Market Lanterns #7", "main a"),
        (SEES, "Owner", "Transfers", "mint"),
    ),
    "export a CSV": (2, (CLICK, "Transactions", "header a"), (CLICK, "CSV", "main a")),
    "watch an address by a webhook": (
        3, (CLICK, "Menu"), (CLICK, "Webhooks"), (FILL, "[name=owner]", PROXY),
        (FILL, "[name=url]", "https://example.com/hook"), (PRESS, "Create", "main button"),
        (WAIT, "document.getElementById('secret').textContent.length === 64"),
    ),
    "watch several addresses for large transfers": (
        4, (CLICK, "Menu"), (CLICK, "Webhooks"), (FILL, "[name=owner]", SAVINGS),
        (FILL, "[name=url]", "https://example.com/hook"),
        (FILL, "[name=watched]", f"{PROXY}\n{TOKEN}"), (PRESS, "Fewer events", "summary"),
        (FILL, "[name=minimumValue]", "1000000"), (PRESS, "Create", "main button"),
        (SEES, "a list of 2", "at least 1000000"),
    ),
    "the oldest events": (
        3, (CLICK, "Menu"), (CLICK, "Events"), (CLICK, "Last", "nav a"), (SEES, "oldest first"),
    ),
    "make a key": (
        3, (CLICK, "Menu"), (CLICK, "API keys"), (PRESS, "Connect a wallet and get a key"), (SIGN,),
        (WAIT, "document.getElementById('key').textContent.startsWith('scan_')"),
    ),
    "decode calldata": (
        3, (CLICK, "Menu"), (CLICK, "Decode data"), (FILL, "[name=data]", TRANSFER),
        (CLICK, "Decode", "main button"), (SEES, "transfer(address,uint256)", "100"),
    ),
    "verify a contract by forge's line": (
        2, (CLICK, "Contracts", "header a"), (CLICK, "Verify a contract", "main a"),
        (SEES, "forge verify-contract", "--chain 31337"),
    ),
    "find a token by its symbol": (
        2, (SEARCH, "MUSD"), (CLICK, "Meridian Dollar", "main a"), (SEES, "Supply"),
    ),
    "find transactions by a method": (
        2, (SEARCH, "swapV2"), (CLICK, "swapV2", "main a"), (SEES, "newest first"),
    ),
    "the call tree": (2, (SEARCH, "{trade}"), (CLICK, "Call tree", "main a"), (SEES, "8 calls")),
    "a block's fee recipient and what it earned": (
        1, (SEARCH, "{block}"), (SEES, "Fee recipient", "Fee recipient earned"),
    ),
    "which blobs": (2, (CLICK, "Menu"), (CLICK, "Blobs"), (SEES, "0 blobs")),
}  # fmt: skip
TASKS = DAILY | {
    "who deployed it": (1, (SEARCH, SAVINGS), (SEES, "Creator", "Created")),
    "did the deposit arrive": (
        1,
        (SEARCH, "{deposit}"),
        (SEES, "success", "confirmation", "finalized"),
    ),
    "same contract as": (2, (SEARCH, SAVINGS), (CLICK, "Same code"), (SEES, "Same code")),
    "holdings at a block": (
        3,
        (SEARCH, "{person}"),
        (CLICK, "Tokens (…"),
        (FILL, "input[name=block]", "{block}"),
        (CLICK, "Apply"),
        (SEES, "block {block:,}"),
    ),
    "add a token": (
        3,
        (SEARCH, "MUSD"),
        (CLICK, "Meridian Dollar", "main a"),
        (CLICK, "Add to wallet"),
        (WAIT, "asked.some((call) => call.method === 'wallet_watchAsset')"),
    ),
    "link to a row": (
        3,
        (SEARCH, "{person}"),
        (CLICK, "Token transfers (…"),
        (CLICK, "0x…", "main td a[href*='#transfer-']"),
        (WAIT, "document.querySelector(':target')"),
    ),
    "gas of a method": (2, (SEARCH, "{trade}"), (CLICK, "Gas", "main a"), (SEES, "usually uses")),
    "for the taxes": (2, (SEARCH, "{person}"), (CLICK, "Sums by month"), (SEES, "CSV")),
    "how a token's holders changed": (1, (SEARCH, TOKEN), (SEES, "joined")),
    "storage changes": (
        2,
        (SEARCH, "{trade}"),
        (CLICK, "State changes"),
        (SEES, "accounts changed"),
    ),
    "feed": (2, (SEARCH, "{person}"), (CLICK, "Feed: transactions and transfers")),
    "copy the ABI": (3, (SEARCH, SAVINGS), (CLICK, "Contract"), (CLICK, "Copy")),
    "compare two accounts": (
        3,
        (SEARCH, "{person}"),
        (CLICK, "Filter"),
        (FILL, "input[name=counterparty]", "{other}"),
        (CLICK, "Apply"),
        (SEES, "newest first"),
    ),
    "by nonce": (
        3,
        (SEARCH, "{person}"),
        (CLICK, "Filter"),
        (FILL, "input[name=nonce]", "{nonce}"),
        (CLICK, "Apply"),
        (SEES, "1 transaction"),
    ),
    "transfers of a block": (
        2,
        (SEARCH, "{block}"),
        (CLICK, "…", "main a[href^='/token-transfers']"),
        (SEES, "newest first"),
    ),
}
Site = namedtuple("Site", "url known")


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """The demo as `make run` starts it, whose node answers more than a recording does."""
    folder = tmp_path_factory.mktemp("demo")
    for parent in (folder, *folder.parents[:2]):  # PostgreSQL runs as another user
        parent.chmod(0o755)
    brand = folder / "brand.toml"
    brand.write_text('url = "https://scan.example.org"\n')
    raised = dict.fromkeys(("SCAN_RATE_LIMIT_PAGES", "SCAN_RATE_LIMIT_ANONYMOUS"), "100000/minute")
    command = (sys.executable, "-m", "scan")
    with scan_run(command, folder, SCAN_BRAND=str(brand), **raised) as scan:
        scan.wait_for_block(718, or_later=True)
        yield Site(scan.url, known_of(scan.url))


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
        "owner": ACCOUNT.address,
        **{name: of_method(read, selector, status) for name, selector, status in OF_METHODS},
    }


OF_METHODS = (("deposited", "0xb6b55f25", "true"), ("refused", "0x2e1a7d4d", "false"))


def of_method(read, selector, status):
    rows = read(f"/transactions?method={selector}&status={status}&limit=100")["transactions"]
    return next(row["hash"] for row in rows if row["toAddress"] == PROXY)


@pytest.mark.parametrize("task", TASKS)
def test_a_task_takes_as_many_clicks_as_it_should(page, running, task):
    page.before_scripts(WALLET)
    visitor = Visitor(page, running.url)
    clicks, *steps = TASKS[task]
    for step, *texts in steps:
        step(visitor, *(text.format(**running.known) for text in texts))
    print(f"\n{task}: {visitor.clicks} clicks, {visitor.fields} fields")
    assert visitor.clicks == clicks
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
            assert visitor.clicks <= 3
