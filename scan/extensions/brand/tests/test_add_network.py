"""The start page adds the chain to the visitor's wallet, where the operator names a public node."""

import json
from pathlib import Path

import pytest

from scan.extensions.brand.settings import public_url
from scan.settings import Brand
from tests.support.serving import serving


def test_the_wallet_is_given_this_chain(page, explorer):
    brand, chain_name = Brand(public_rpc_url="https://rpc.example.org/a"), '"><script>x</script>'
    client = explorer.indexing.client(brand=brand, chain_name=chain_name, coin_symbol="DEV")
    wallet = Path(__file__).with_name("add_network_wallet.js").read_text()
    page.before_scripts(wallet)
    shown = "document.querySelector('#add-network span').textContent"
    with serving(client.application) as url:
        page.open(url)
        page.click("#add-network button")
        page.wait(f"{shown}.includes('is in your wallet')")
        added = json.loads(page.evaluate("JSON.stringify(added)"))
        page.evaluate("window.refuses = true")
        page.click("#add-network button")
        page.wait(f"{shown}.includes('rejected')")
    assert added == {
        "method": "wallet_addEthereumChain",
        "params": [
            {
                "chainId": explorer.anvil.call("eth_chainId"),
                "chainName": chain_name,
                "nativeCurrency": {"name": "DEV", "symbol": "DEV", "decimals": 18},
                "rpcUrls": ["https://rpc.example.org/a"],
            }
        ],
    }
    assert page.errors == []
    assert "add-network" not in explorer.client.get("/").text


@pytest.mark.check
def test_only_urls_that_anybody_may_see_are_taken():
    for url in ("https://rpc.example.org", "http://localhost:8545", "http://127.0.0.1:8545/a"):
        assert public_url(url) == url
    for url in """
        https://a:b@c.org https://c.org/?key=1 http://c.org javascript:alert(1)
        http://localhost.c.org http://localhost@c.org
    """.split():
        with pytest.raises(ValueError, match="must be an https URL"):
            public_url(url)
