"""Pages of tokens, items and pools: names that anybody can choose, transfers, holders, trades,
and adding one to a wallet (EIP-747)."""

import json
import re
from decimal import Decimal
from pathlib import Path

from app import create_app
from tests.pages.markup import Markup
from tests.support.database import execute
from tests.support.page_fixtures import HOSTILE
from tests.support.serving import serving


def test_pages_describe_themselves_to_previews(client, explorer, hostile, scenario):
    """With what is on the page, whatever the chain calls it."""
    transfer = scenario.truth.token_transfers[0]
    page = client.get(f"/tx/{transfer['transactionHash']}").text
    sentence = re.search(r'<p class="sentence">(.+?)</p>', page, re.S)
    expected = " ".join(re.sub(r"<[^>]+>", "", sentence[1]).split())
    for name in ('name="description"', 'property="og:description"'):
        [content] = re.findall(rf'<meta {name} content="([^"]*)">', page)
        assert expected in content
    tags = Markup(explorer.get(f"/token/{hostile}")).tags
    contents = [attributes.get("content") or "" for tag, attributes in tags if tag == "meta"]
    assert any("window.ran = 'name'" in content for content in contents)
    assert not any("ran" in (attributes.get("onerror") or "") for _, attributes in tags)


def test_a_pool_shows_its_candles(client):
    pool = client.get("/api/v1/pools").json["pools"][0]
    candles = client.get(f"/api/v1/pools/{pool['address']}/candles").json["candles"]
    priced = [candle for candle in candles if candle["open"] is not None]
    rising = [candle for candle in priced if Decimal(candle["close"]) >= Decimal(candle["open"])]
    page = client.get(f"/pool/{pool['address']}").text
    assert page.count("<rect") >= len(priced) > 0 and page.count('class="rises"') == len(rising)


def test_hostile_text_is_shown_as_text(explorer, hostile):
    """That none of it is markup is looked for on every page by test_every_page.py."""
    assert "[U+202E]" in explorer.get(f"/token/{hostile}")
    source = explorer.get(f"/address/{hostile}?tab=contract")
    assert "&lt;/code&gt;&lt;/pre&gt;&lt;script&gt;" in source and HOSTILE not in source


def test_a_name_that_anybody_can_choose_is_listed(explorer, hostile):
    """Of a token, and of a contract that somebody verified; an operator's label leads on."""
    url, client = explorer.settings.database_url, explorer.client
    for text in ("<script>window.ran = 'name'</script><img src=x onerror=window.ran=1>", "Hostile"):
        listed = client.get("/search", query_string={"q": text})
        assert listed.status_code == 200 and hostile in listed.text, text
    label = "INSERT INTO labels (address, label) VALUES (%s, 'Hostile')"
    execute(url, label, bytes.fromhex(hostile[2:]))
    try:
        moved = client.get("/search?q=hostile")
        assert (moved.status_code, moved.headers["Location"]) == (302, f"/address/{hostile}")
    finally:
        execute(url, "DELETE FROM labels")
    for text in (hostile, hostile[2:].upper()):
        assert client.get(f"/search?q={text}").headers["Location"] == f"/token/{hostile}"


def test_a_token_is_called_as_it_calls_itself(explorer, hostile):
    """Not as its source does, which many tokens share; an operator's label goes before both."""
    heading = re.compile(r"<h1>(.*?)</h1>")
    [shown] = heading.findall(explorer.get(f"/address/{hostile}"))
    assert shown.startswith("<bdi>&lt;script&gt;window.ran = &#39;name&#39;")
    transfers = explorer.get(f"/address/{explorer.anvil.accounts[0]}?tab=history&=own")
    assert "Hostile" not in transfers
    url, key = explorer.settings.database_url, bytes.fromhex(hostile[2:])
    execute(url, "INSERT INTO labels (address, label) VALUES (%s, 'Labelled')", key)
    [shown] = heading.findall(explorer.get(f"/address/{hostile}?=labelled"))
    assert shown == "<bdi>Labelled</bdi>"
    execute(url, "DELETE FROM labels WHERE address = %s", key)


def test_a_verified_token_is_told_from_others(explorer, hostile):
    client = explorer.client
    query = {"q": "script"}
    for path in ("/tokens", "/search", "/search/suggestions", f"/token/{hostile}"):
        html = client.get(path, query_string=query if "search" in path else None).text
        assert ">source verified</span>" in html and ">verified<" not in html, path
    assert ">source verified</span>" in client.get(f"/address/{hostile}").text


def test_the_wallet_is_given_the_token_on_this_chain(page, indexed, scenario):
    chain = scenario.anvil.call("eth_chainId")
    token = next(t for t in scenario.truth.tokens if t["symbol"] == "MUSD")
    wallet = Path(__file__).with_name("add_token_wallet.js").read_text()
    page.before_scripts(wallet + f"window.chain = {json.dumps(chain)};")
    shown = "document.querySelector('#add-token [role=status]').textContent"
    with serving(create_app(indexed.settings)) as url:
        page.open(f"{url}/token/{token['address']}")
        page.click("#add-token button")
        page.wait(f"{shown}.includes('has the token')")
    requests = json.loads(page.evaluate("JSON.stringify(asked)"))
    assert [request["method"] for request in requests] == ["eth_chainId", "wallet_watchAsset"]
    params = requests[1]["params"]
    assert (params["type"], params["options"]["address"].lower()) == ("ERC20", token["address"])
    assert params["options"]["symbol"] == token["symbol"]
    assert params["options"]["decimals"] == token["decimals"]
    page.evaluate("window.elsewhere = true, window.ignores = true, window.asked = []")
    page.click("#add-token button")
    page.wait(f"{shown}.includes('did not add')")
    switched = json.loads(page.evaluate("JSON.stringify(asked)"))[1]
    assert switched == {"method": "wallet_switchEthereumChain", "params": [{"chainId": chain}]}
    page.evaluate("window.refuses = true")
    page.click("#add-token button")
    page.wait(f"{shown}.includes('rejected')")
    assert page.errors == []


def test_items_and_amounts_without_decimals_are_not_offered(client, scenario):
    tokens = {token["address"]: token for token in scenario.truth.tokens}
    pages = {address: client.get(f"/token/{address}").text for address in tokens}
    offered = {address for address, html in pages.items() if 'id="add-token"' in html}
    with_amounts = {a for a, t in tokens.items() if t["type"] == "BEP20"}
    without_decimals = {a for a, t in tokens.items() if t["decimals"] is None}
    assert with_amounts & without_decimals and tokens.keys() - with_amounts
    assert offered == with_amounts - without_decimals != set()
