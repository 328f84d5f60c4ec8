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
PROXY = "0xa7c59f010700930003b33ab25a7a0679c860f29c"  # of the demo chain


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
# One of each way through menu, search, tabs and forms, and the clicks that it takes.
DAILY = {
    "read a view function": (
        3, (SEARCH, PROXY), (CLICK, "Contract", "main a"), (CLICK, "Read", "main a"),
        (SEES, "totalDeposits"),
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
    "the call tree": (2, (SEARCH, "{trade}"), (CLICK, "Call tree", "main a"), (SEES, "8 calls")),
    "which blobs": (2, (PRESS, "Menu"), (CLICK, "Blobs"), (SEES, "0 blobs")),
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The demo as `make run` starts it, whose node answers more than a recording does: its URL, and
    the hash of a trade."""
    folder = tmp_path_factory.mktemp("demo")
    for parent in (folder, *folder.parents[:2]):  # PostgreSQL runs as another user
        parent.chmod(0o755)
    brand = folder / "brand.toml"
    brand.write_text('url = "https://scan.example.org"\n')
    raised = dict.fromkeys(("SCAN_RATE_LIMIT_PAGES", "SCAN_RATE_LIMIT_ANONYMOUS"), "100000/minute")
    with scan_run((sys.executable, "-m", "scan"), folder, SCAN_BRAND=str(brand), **raised) as scan:
        scan.wait_for_block(718, or_later=True)

        path = "/api/v1/dex-trades?limit=1"
        [trade] = requests.get(f"{scan.url}{path}", timeout=WAIT_S).json()["trades"]
        yield scan.url, trade["transactionHash"]


@pytest.mark.parametrize("task", DAILY)
def test_a_task_takes_as_many_clicks_as_it_should(page, site, task):
    url, trade = site
    page.before_scripts(WALLET)
    visitor = Visitor(page, url)
    clicks, *steps = DAILY[task]
    for step, *texts in steps:
        getattr(visitor, step)(*(text.format(trade=trade) for text in texts))
    assert (visitor.clicks, page.errors) == (clicks, [])
