"""A token's page adds it to the visitor's wallet (EIP-747)."""

import json
from pathlib import Path

from app import create_app
from tests.support.serving import serving

WALLET = Path(__file__).with_name("add_token_wallet.js").read_text()
SHOWN = "document.querySelector('#add-token [role=status]').textContent"


def test_the_wallet_is_given_the_token_on_this_chain(page, indexed, scenario):
    chain = scenario.anvil.call("eth_chainId")
    token = next(t for t in scenario.truth.tokens if t["symbol"] == "MUSD")
    page.before_scripts(WALLET + f"window.chain = {json.dumps(chain)};")
    with serving(create_app(indexed.settings)) as url:
        page.open(f"{url}/token/{token['address']}")
        page.click("#add-token button")
        page.wait(f"{SHOWN}.includes('has the token')")
    asked = json.loads(page.evaluate("JSON.stringify(asked)"))
    assert [request["method"] for request in asked] == ["eth_chainId", "wallet_watchAsset"]
    given = asked[1]["params"]
    assert (given["type"], given["options"]["address"].lower()) == ("ERC20", token["address"])
    assert given["options"]["symbol"] == token["symbol"]
    assert given["options"]["decimals"] == token["decimals"]
    page.evaluate("window.elsewhere = true, window.ignores = true, window.asked = []")
    page.click("#add-token button")
    page.wait(f"{SHOWN}.includes('did not add')")
    switched = json.loads(page.evaluate("JSON.stringify(asked)"))[1]
    assert switched == {"method": "wallet_switchEthereumChain", "params": [{"chainId": chain}]}
    page.evaluate("window.refuses = true")
    page.click("#add-token button")
    page.wait(f"{SHOWN}.includes('rejected')")
    assert page.errors == []


def test_items_and_amounts_without_decimals_are_not_offered(client, scenario):
    for token in scenario.truth.tokens:
        html = client.get(f"/token/{token['address']}").text
        is_offered = token["type"] == "BEP20" and token["decimals"] is not None
        assert ('id="add-token"' in html) == is_offered
