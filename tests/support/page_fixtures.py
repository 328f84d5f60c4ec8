"""The pages over a chain to which tests may add contracts."""

import pytest

from tests.support.browser import chromium
from tests.support.many_functions import verified
from tests.support.serving import serving

# multicall(bytes[]) with a call of burn(uint256).
MULTICALL = "0xac9650d8" + "".join(
    f"{word:064x}" for word in (32, 1, 32, 36, 0x42966C68 << 224, 7 << 224)
)
# Its name, symbol and source try to become markup, and to turn the direction of what follows; name,
# symbol and supply are as wide as a list shows them.
HOSTILE = """// SPDX-License-Identifier: MIT
// </code></pre><script>window.ran = "source"</script> \u202e reversed \u202c
pragma solidity ^0.8.20;
contract Hostile {
    string public name = "<script>window.ran = 'name'</script><img src=x onerror=window.ran=1>";
    string public symbol = unicode"\\u202e\\"><svg onload=window.ran=2>";
    uint8 public decimals = 18;
    uint256 public totalSupply = 999999999999999999999123456789012345678;
    event Transfer(address indexed from, address indexed to, uint256 value);
    constructor() { emit Transfer(address(0), msg.sender, 1000); }
    function balanceOf(address) external pure returns (uint256) { return 1000; }
    function shout() external pure returns (string memory) {
        return unicode"<script>window.ran = 'result'</script>\\u202e";
    }
}
"""


@pytest.fixture(scope="module")
def explorer_url(explorer):
    with serving(explorer.app) as url:
        yield url


@pytest.fixture(scope="module")
def hostile(explorer):
    """The address of a verified token that would run scripts."""
    return verified(explorer, HOSTILE, "Hostile")


@pytest.fixture(scope="session")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture
def page(browser):
    with browser.tab() as tab:
        yield tab
