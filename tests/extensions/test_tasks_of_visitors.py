"""What visitors look for, from the home page in Chromium: the clicks it takes, on the chain of
scan.extensions.demo. What the forms do then: tests/pages/test_forms_in_browser.py.

A visitor has the hash, address or number at hand; a search is a field and the click that sends it.
"""

import json
import sys

import pytest
import requests

from tests.support import WAIT_S
from tests.support.scan_run import scan_run

pytestmark = pytest.mark.long

# The visible element with a text, or whose text begins with one that ends in "…".
FIND = """
[...document.querySelectorAll(%s)].find((element) => {
  const words = (element.innerText || element.ariaLabel || '').trim().replace(/\\s+/g, ' ');
  const text = %s;
  const matches = text.endsWith('…') ? words.startsWith(text.slice(0, -1)) : words === text;
  return matches && element.checkVisibility();
})"""
# A wallet that does not answer.
WALLET = "window.asked = []; window.ethereum = {request: async (c) => asked.push(c), on() {}}"
CLICKED = "a, button, summary, label"
# Of the demo chain: a proxy, a verified contract with an owner, and a token.
PROXY = "0xa7c59f010700930003b33ab25a7a0679c860f29c"
SAVINGS = "0x22753e4264fddc6181dc7cce468904a80a363e44"
TOKEN = "0x5fbdb2315678afecb367f032d93f642f64180aa3"


class Visitor:
    """Counts what it takes."""

    def __init__(self, page, url):
        self.page, self.wait, self.clicks = page, page.wait, 0
        page.open(url)

    def press(self, text, selector=CLICKED):
        """Click what leads to no other page."""
        element = FIND % (json.dumps(selector), json.dumps(text))
        self.wait(element)
        self.page.evaluate(f"{element}.click()")
        self.clicks += 1

    def click(self, text, selector=CLICKED):
        self.page.evaluate("window.isOld = true")
        self.press(text, selector)
        self.wait("!window.isOld && document.readyState === 'complete'")

    def fill(self, selector, text):
        self.wait(f"document.querySelector({json.dumps(selector)})")
        self.page.fill(selector, text)

    def search(self, text):
        self.fill("input[name=q]", text)
        self.click("Search", "main button, header button")

    def sees(self, *texts):
        for text in texts:
            self.wait(f"document.body.innerText.includes({json.dumps(text)})")


SEARCH, CLICK, PRESS, FILL, WAIT, SEES = "search click press fill wait sees".split()
TRANSFER = f"0xa9059cbb{'0' * 24}{PROXY[2:]}{'0' * 62}64"
# Twenty that people have daily, and the clicks that each takes.
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
    "export a CSV": (2, (CLICK, "Transactions", "header a"), (PRESS, "CSV", "main a")),
    "watch an address by a webhook": (
        3, (PRESS, "Menu"), (CLICK, "Webhooks"), (FILL, "[name=owner]", PROXY),
        (FILL, "[name=url]", "https://example.com/hook"), (PRESS, "Create", "main button"),
        (WAIT, "document.getElementById('secret').textContent.length === 64"),
    ),
    "watch several addresses for large transfers": (
        4, (PRESS, "Menu"), (CLICK, "Webhooks"), (FILL, "[name=owner]", SAVINGS),
        (FILL, "[name=url]", "https://example.com/hook"),
        (FILL, "[name=watched]", f"{PROXY}\n{TOKEN}"), (PRESS, "Fewer events", "summary"),
        (FILL, "[name=minimumValue]", "1000000"), (PRESS, "Create", "main button"),
        (SEES, "a list of 2", "at least 1000000"),
    ),
    "the oldest events": (
        3, (PRESS, "Menu"), (CLICK, "Events"), (CLICK, "Last", "nav a"), (SEES, "oldest first"),
    ),
    "make a key": (
        3, (PRESS, "Menu"), (CLICK, "API keys"), (PRESS, "Connect a wallet and get a key"),
        (WAIT, "asked.length"),
    ),
    "decode calldata": (
        3, (PRESS, "Menu"), (CLICK, "Decode data"), (FILL, "[name=data]", TRANSFER),
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
    "which blobs": (2, (PRESS, "Menu"), (CLICK, "Blobs"), (SEES, "0 blobs")),
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The demo as `make run` starts it, whose node answers more than a recording does: its URL, and
    what visitors have at hand."""
    folder = tmp_path_factory.mktemp("demo")
    for parent in (folder, *folder.parents[:2]):  # PostgreSQL runs as another user
        parent.chmod(0o755)
    brand = folder / "brand.toml"
    brand.write_text('url = "https://scan.example.org"\n')
    raised = dict.fromkeys(("SCAN_RATE_LIMIT_PAGES", "SCAN_RATE_LIMIT_ANONYMOUS"), "100000/minute")
    with scan_run((sys.executable, "-m", "scan"), folder, SCAN_BRAND=str(brand), **raised) as scan:
        scan.wait_for_block(718, or_later=True)

        def read(path):
            return requests.get(f"{scan.url}/api/v1{path}", timeout=WAIT_S).json()

        refused = read("/transactions?method=0x2e1a7d4d&status=false&limit=100")["transactions"]
        trade = read("/dex-trades?limit=1")["trades"][0]
        yield (
            scan.url,
            {
                "refused": next(row["hash"] for row in refused if row["toAddress"] == PROXY),
                "trade": trade["transactionHash"],
                "person": trade["maker"],
                "block": trade["blockNumber"],
                "owner": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
            },
        )


@pytest.mark.parametrize("task", DAILY)
def test_a_task_takes_as_many_clicks_as_it_should(page, site, task):
    url, known = site
    page.before_scripts(WALLET)
    visitor = Visitor(page, url)
    clicks, *steps = DAILY[task]
    for step, *texts in steps:
        getattr(visitor, step)(*(text.format(**known) for text in texts))
    assert (visitor.clicks, page.errors) == (clicks, [])
