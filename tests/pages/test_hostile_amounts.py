"""Amounts and names as long as a stranger can make them, in lists that others read."""

from pathlib import Path

import pytest
from eth_abi import encode
from eth_utils import keccak

from tests.support import page_checks
from tests.support.many_functions import deploy

pytestmark = pytest.mark.thorough

LARGEST = 2**256 - 1
SOURCE = Path(__file__).with_name("HostileAmounts.sol").read_text()


def call(signature, *arguments):
    types = signature.partition("(")[2][:-1].split(",")
    return "0x" + (keccak(text=signature)[:4] + encode(types, arguments)).hex()


def token(explorer, name, symbol, decimals, is_multi):
    source = SOURCE.replace("NAME", name).replace("SYMBOL", symbol)
    source = source.replace("DECIMALS", str(decimals)).replace("IS_MULTI", is_multi)
    return deploy(explorer, source, "Hostile")


@pytest.fixture(scope="module")
def owner(explorer):
    """Of transactions that move, approve and emit the largest numbers."""
    owner, other = explorer.anvil.accounts[:2]
    for decimals in (0, 18, 255):
        address = token(explorer, "N" * 255, "W" * 50, decimals, "false")
        explorer.send(address, call("send(address,uint256)", other, LARGEST))
        explorer.send(address, call("approve(address,uint256)", other, LARGEST - 7))
    items = token(explorer, "Items", "M" * 50, 0, "true")
    send = "sendItem(address,uint256,uint256)"
    for id in (5, LARGEST):
        explorer.send(items, call(send, other, id, LARGEST))
    return owner


@pytest.mark.parametrize("width", [360, 1280])
def test_no_list_is_wider_than_the_screen(page, explorer_url, owner, width):
    page_checks.show_at(page, width)
    wide = []
    tabs = ("transactions", "transfers", "tokens", "history", "approvals", "items")
    of_owner = [f"/address/{owner}?tab={tab}" for tab in tabs]
    for path in ("/", "/txs", "/token-transfers", "/tokens", "/events", *of_owner):
        page.open(explorer_url + path)
        fits = page.evaluate(f"document.documentElement.scrollWidth <= {width}")
        wide += [] if fits and page.evaluate(page_checks.TABLES_FIT) else [path]
        longest = "Math.max(...document.body.innerText.match(/[0-9,]+/g).map((t) => t.length))"
        digits = page.evaluate(longest)
        wide += [] if digits <= 40 else [(path, digits)]
    assert wide == []


def test_an_approval_that_was_used_is_unlimited(explorer, owner):
    html = explorer.client.get(f"/address/{owner}?tab=approvals").text
    assert html.count("unlimited") == 3
    assert "event:" not in html
