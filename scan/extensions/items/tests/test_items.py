"""Items over HTTP: all of the scenario, what is refused, what contracts return as URI; and in
Blockscout's form."""

import base64
import json
from collections import namedtuple

import pytest

from scan.http.request_state import CacheKey
from tests.support import anvil, expected
from tests.support.indexing import Indexing, client_over
from tests.support.items import items_of, require_same_items
from tests.support.lists import get


def test_every_item_of_the_scenario(client, scenario):
    """Among them ids of 78 digits, burnt ones, and those of tokens that change their shape."""
    truth = scenario.truth
    require_same_items(client, truth.token_transfers, truth.addresses)
    items = [item for group in items_of(truth.token_transfers).values() for item in group]
    assert {item.token_type for item in items} == {"BEP721", "BEP1155"}
    assert str(2**256 - 1) in {item.token_id for item in items}
    assert any(item.owner is None for item in items if item.token_type == "BEP721")


def encoded(text):
    padded = text.ljust(-(-len(text) // 32) * 32, b"\0")
    return (32).to_bytes(32) + len(text).to_bytes(32) + padded


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>window.ran = 1</script></svg>'
METADATA = {
    "name": "Lamp <b>#1</b>\u202e",
    "description": "Shines.",
    "image": f"data:image/svg+xml;base64,{base64.b64encode(SVG).decode()}",
    "attributes": [{"trait_type": "Colour", "value": "red"}, {"trait_type": "\u200b"}],
}
DOCUMENT = base64.b64encode(json.dumps(METADATA).encode())
REVERTS, BURNS_ALL_GAS, RETURNS_A_MEGABYTE = 1, 2, 3
# What a contract returns, or how it fails.
RETURNED = {
    "text": encoded(b"ipfs://x/{id}.json"),
    "empty": encoded(b""),
    "dirty": encoded(b"a\0b\x1b[31m\xff\xe2\x80\xa8c"),
    "script": encoded(b"javascript:alert(1)"),
    "nothing": b"",
    "word": b"\1" * 32,
    "too far": (32).to_bytes(32) + (2**255).to_bytes(32),
    "long": encoded(b"x" * 20_000),
    "reverts": REVERTS,
    "burns all gas": BURNS_ALL_GAS,
    "a megabyte": RETURNS_A_MEGABYTE,
    "outside of the chain": encoded(b"https://example.com/1.json"),
    "no JSON": encoded(b"data:application/json,{"),
    "deep JSON": encoded(b"data:application/json," + b"[" * 5_000),
    "another scheme": encoded(b"http://127.0.0.1/"),
}
HOSTILE = 'https://x/"><script>window.ran = 1</script>\u202e'.encode() + b"y" * 9000
RETURNED["hostile"] = encoded(HOSTILE)
RETURNED["metadata"] = encoded(b"data:application/json;base64," + DOCUMENT)


Talking = namedtuple("Talking", "owner database_url client tokens")


@pytest.fixture(scope="module")
def talking(postgres, template):
    with anvil.Anvil() as node, postgres.cloned(template) as url:
        owner, tokens = node.accounts[0], {}
        for name, returned in RETURNED.items():
            token = node.deploy(owner, "Talkative")
            node.transact(owner, token, "mint", owner, 1)
            function = "fail" if isinstance(returned, int) else "answer"
            node.transact(owner, token, function, returned, gas=28_000_000)
            node.mine()
            tokens[name] = token.address
        yield Talking(owner, url, Indexing(url, node.url).run_until(node.head()).client(), tokens)


def test_uris_are_what_contracts_return_cleaned_as_expected(talking):
    """A contract that fails costs its URI alone."""
    names = {name: address.lower() for name, address in talking.tokens.items()}
    expected.compare(__file__, talking.client, names, "uris")
    item = get(talking.client, f"/tokens/{talking.tokens['long']}/items/1")
    assert item["tokenUri"] == "x" * 20_000
    for name in ("outside of the chain", "no JSON"):
        path = f"/nft/{talking.tokens[name]}/1"
        item = get(talking.client, f"/tokens/{talking.tokens[name]}/items/1")
        assert item["metadataUnavailable"] in talking.client.get(path).text
        assert talking.client.get(f"{path}/picture").status_code == 404


def test_without_the_node_the_item_is_there_and_is_asked_for_again(talking):
    client = client_over(talking.database_url)
    path = f"/api/v1/tokens/{talking.tokens['text']}/items/1"
    away = client.get(path).json
    assert away["tokenUri"] is None and "node" in away["tokenUriUnavailable"]
    assert away["owner"] == talking.owner
    assert client.get(path).json == away
    client.get(other := "/api/v1/blocks")
    kept = [client.application.wsgi_app.cache.find(CacheKey(of)) for of in (path, other)]
    assert kept[0] is None and kept[1] is not None


def test_a_hostile_uri_is_text_on_its_page(talking):
    html = talking.client.get(f"/nft/{talking.tokens['hostile']}/1").text
    assert "<script>window" not in html and "&lt;script&gt;window" in html
    assert "\u202e" not in html and 'href="https' not in html and len(html) < 20_000


def test_metadata_and_picture_of_the_chain_are_shown_and_run_nothing(talking):
    path = f"/nft/{talking.tokens['metadata']}/1"
    html = talking.client.get(path).text
    assert f'src="{path}/picture"' in html and "<svg xmlns" not in html
    assert "Lamp &lt;b&gt;#1&lt;/b&gt;[U+202E]" in html and "Colour" in html
    answer = talking.client.get(f"{path}/picture")
    assert (answer.data, answer.mimetype) == (SVG, "image/svg+xml")
    policy = answer.headers["Content-Security-Policy"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_refusals_are_as_expected(client, scenario):
    contracts = scenario.stage.contracts
    names = {key: contracts[key].address.lower() for key in ("keepers", "gold", "forge")}
    expected.compare(__file__, client, names)
