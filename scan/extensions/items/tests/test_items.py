"""Items over HTTP: all of the scenario, what is refused, what contracts return as URI; and in
Blockscout's form."""

import base64
import json

import pytest
from eth_abi import encode

from scan.http.request_state import CacheKey
from tests.support import expected, indexing
from tests.support.items import items_of
from tests.support.lists import require_same_items


def test_every_item_of_the_scenario(client, scenario):
    """Among them ids of 78 digits, burnt ones, and those of tokens that change their shape."""
    truth = scenario.truth
    require_same_items(client, truth.token_transfers, truth.addresses)
    items = [item for group in items_of(truth.token_transfers).values() for item in group]
    assert {item.token_type for item in items} == {"BEP721", "BEP1155"}
    assert str(2**256 - 1) in {item.token_id for item in items}
    assert any(item.owner is None for item in items if item.token_type == "BEP721")


def encoded(text):
    return encode(["bytes"], [text])


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>window.ran = 1</script></svg>'
METADATA = {
    "name": "Lamp <b>#1</b>\u202e",
    "description": "Shines.",
    "image": f"data:image/svg+xml;base64,{base64.b64encode(SVG).decode()}",
    "attributes": [{"trait_type": "Colour", "value": "red"}, {"trait_type": "\u200b"}],
}
DOCUMENT = base64.b64encode(json.dumps(METADATA).encode())
# What a contract returns, or the number of how it fails.
RETURNED = {
    "text": encoded(b"ipfs://x/{id}.json"),
    "empty": encoded(b""),
    "dirty": encoded(b"a\0b\x1b[31m\xff\xe2\x80\xa8c"),
    "script": encoded(b"javascript:alert(1)"),
    "nothing": b"",
    "word": b"\1" * 32,
    "too far": (32).to_bytes(32) + (2**255).to_bytes(32),
    "long": encoded(b"x" * 20_000),
    "reverts": 1,
    "burns all gas": 2,
    "a megabyte": 3,
    "outside of the chain": encoded(b"https://example.com/1.json"),
    "no JSON": encoded(b"data:application/json,{"),
    "deep JSON": encoded(b"data:application/json," + b"[" * 5_000),
    "another scheme": encoded(b"http://127.0.0.1/"),
}
HOSTILE = 'https://x/"><script>window.ran = 1</script>\u202e'.encode() + b"y" * 9000
RETURNED["hostile"] = encoded(HOSTILE)
RETURNED["metadata"] = encoded(b"data:application/json;base64," + DOCUMENT)


@pytest.fixture(scope="module")
def talking(explorer):
    """The addresses of tokens, each with an item 1, by what their contracts say of it."""
    tokens = {}
    for name, returned in RETURNED.items():
        token = explorer.deploy("Talkative")
        explorer.do(token, "mint", explorer.me, 1)
        function = "fail" if isinstance(returned, int) else "answer"
        explorer.do(token, function, returned, gas=28_000_000)
        tokens[name] = token.address
    explorer.wait_for_block(explorer.head)
    return tokens


def test_uris_are_what_contracts_return_cleaned_as_expected(explorer, talking):
    """A contract that fails costs its URI alone."""
    names = {name: address.lower() for name, address in talking.items()}
    expected.compare(__file__, explorer.client, names, "uris")
    item = explorer.get(f"/api/v1/tokens/{talking['long']}/items/1")
    assert item["tokenUri"] == "x" * 20_000
    for name in ("outside of the chain", "no JSON"):
        path, item = f"/nft/{talking[name]}/1", f"/api/v1/tokens/{talking[name]}/items/1"
        assert explorer.get(item)["metadataUnavailable"] in explorer.get(path)
        assert explorer.client.get(f"{path}/picture").status_code == 404


def test_without_the_node_the_item_is_there_and_is_asked_for_again(explorer, talking):
    client = indexing.client_over(explorer.url)
    path = f"/api/v1/tokens/{talking['text']}/items/1"
    away = client.get(path).json
    assert away["tokenUri"] is None and "node" in away["tokenUriUnavailable"]
    assert away["owner"] == explorer.me
    assert client.get(path).json == away
    client.get(other := "/api/v1/blocks")
    kept = [client.application.wsgi_app.cache.find(CacheKey(of)) for of in (path, other)]
    assert kept[0] is None and kept[1] is not None


def test_a_hostile_uri_is_text_on_its_page(explorer, talking):
    html = explorer.get(f"/nft/{talking['hostile']}/1")
    assert "<script>window" not in html and "&lt;script&gt;window" in html
    assert "\u202e" not in html and 'href="https' not in html and len(html) < 20_000


def test_metadata_and_picture_of_the_chain_are_shown_and_run_nothing(explorer, talking):
    path = f"/nft/{talking['metadata']}/1"
    html = explorer.get(path)
    assert f'src="{path}/picture"' in html and "<svg xmlns" not in html
    assert "Lamp &lt;b&gt;#1&lt;/b&gt;[U+202E]" in html and "Colour" in html
    answer = explorer.client.get(f"{path}/picture")
    assert (answer.data, answer.mimetype) == (SVG, "image/svg+xml")
    policy = answer.headers["Content-Security-Policy"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_refusals_are_as_expected(client, scenario):
    contracts = scenario.stage.contracts
    names = {key: contracts[key].address.lower() for key in ("keepers", "gold", "forge")}
    expected.compare(__file__, client, names)
