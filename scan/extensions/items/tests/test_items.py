"""Items over HTTP: all of the scenario, what is refused, what contracts return as URI; and in
Blockscout's form."""

import base64
import json
from collections import namedtuple
from urllib.parse import quote

import pytest

from scan.http.request_state import CacheKey
from tests.support import anvil
from tests.support.indexing import Indexing, client_over
from tests.support.items import items_of, require_same_items
from tests.support.refusals import require_refusal

UINT256 = 2**256
NOT_IDS = (
    " ",
    "-1",
    "+1",
    "01",
    "00",
    "1.0",
    "1e3",
    "1_0",
    "0x1",
    "0X1",
    "abc",
    "\u0661",
    "1\n",
    "1\0",
    str(UINT256),
    "9" * 78,
    "1" + 400 * "0",
    "%31",
    "null",
)


def test_every_item_of_the_scenario(client, scenario):
    """Among them ids of 78 digits, burnt ones, and those of tokens that change their shape."""
    truth = scenario.truth
    require_same_items(client, truth.token_transfers, truth.addresses)
    items = [item for group in items_of(truth.token_transfers).values() for item in group]
    assert {item.token_type for item in items} == {"BEP721", "BEP1155"}
    assert str(UINT256 - 1) in {item.token_id for item in items}
    assert any(item.owner is None for item in items if item.token_type == "BEP721")


def test_a_search_for_a_token_and_an_id_leads_to_the_item(client, scenario):
    """In the API, on the page and in its suggestions; without such an item nothing is added."""
    address = scenario.stage.contracts["keepers"].address
    token = client.get(f"/api/v1/tokens/{address}").json
    [item, *_] = client.get(f"/api/v1/tokens/{address}/items").json["items"]
    id_, value = item["tokenId"], f"{address}/{item['tokenId']}"
    for text, match in (
        (f"{token['symbol']} #{id_}", "exact"),
        (f"{token['name'].upper()}#{id_}", "exact"),
        (f"lantern k {id_}", "prefix"),
    ):
        [first, *_] = client.get("/api/v1/search", query_string={"q": text}).json["results"]
        assert (first["type"], first["value"]) == ("item", value), text
        assert first["name"] == f"{token['name']} #{id_}"
        assert first["match"] == match
        assert first["holderCount"] == token["holderCount"]
        for path in ("/search", "/search/suggestions"):
            page = client.get(path, query_string={"q": text})
            assert page.status_code == 200 and f'href="/nft/{value}"' in page.text
    for text in (f"lamp {UINT256}", f"lamp #{UINT256 - 2}", "#1", "MUSD #1", "lamp", "# #1"):
        results = client.get("/api/v1/search", query_string={"q": text}).json["results"]
        assert "item" not in {record["type"] for record in results}, text


@pytest.mark.parametrize("value", NOT_IDS, ids=lambda value: ascii(value)[:20])
@pytest.mark.parametrize("below", ["", "/transfers"])
def test_what_is_no_id_is_refused(client, scenario, value, below):
    token = scenario.stage.contracts["keepers"].address
    answer = client.get(f"/api/v1/tokens/{token}/items/{quote(value)}{below}")
    require_refusal(answer, 400, "invalid_parameter", "tokenId")
    assert client.get(f"/nft/{token}/{quote(value)}").status_code == 400


NO_ITEMS = [
    ("gold", "", "is a BEP20"),
    ("gold", "/1", "is a BEP20"),
    ("gold", "/1/transfers", "is a BEP20"),
    ("keepers", f"/{UINT256 - 2}", "No transfer of this id"),
    ("keepers", f"/{UINT256 - 2}/transfers", "No transfer of this id"),
]


@pytest.mark.parametrize(("token", "path", "words"), NO_ITEMS)
def test_tokens_without_items_and_unmoved_ids_are_not_found(client, scenario, token, path, words):
    address = scenario.stage.contracts[token].address
    refused = client.get(f"/api/v1/tokens/{address}/items{path}")
    assert words in require_refusal(refused, 404, "not_found")["error"]


def test_a_token_without_items_counts_none(client, scenario):
    coin = scenario.stage.contracts["gold"].address
    assert client.get(f"/api/v1/tokens/{coin}").json["itemCount"] is None


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
# What a contract returns, or how it fails; the URI that is shown, or why there is none.
URIS = {
    "text": (encoded(b"ipfs://x/{id}.json"), "ipfs://x/{id}.json", None),
    "empty": (encoded(b""), "", None),
    "dirty": (encoded(b"a\0b\x1b[31m\xff\xe2\x80\xa8c"), "ab[31m\ufffdc", None),
    "script": (encoded(b"javascript:alert(1)"), "javascript:alert(1)", None),
    "nothing": (b"", None, "no text"),
    "word": (b"\1" * 32, None, "no text"),
    "too far": ((32).to_bytes(32) + (2**255).to_bytes(32), None, "no text"),
    "long": (encoded(b"x" * 20_000), "x" * 20_000, None),
    "reverts": (REVERTS, None, "reverted"),
    "burns all gas": (BURNS_ALL_GAS, None, "reverted"),
    "a megabyte": (RETURNS_A_MEGABYTE, None, "more than 65,536 bytes"),
}
WITHOUT_METADATA = {
    b"https://example.com/1.json": "Metadata outside the chain is not fetched here.",
    b"data:application/json,{": "The metadata is not JSON.",
    b"data:application/json," + b"[" * 5_000: "The metadata is not JSON.",
    b"http://127.0.0.1/": "Only data:, https: and ipfs: URIs are read.",
}
HOSTILE = 'https://x/"><script>window.ran = 1</script>\u202e'.encode() + b"y" * 9000
RETURNED = {
    **{name: returned for name, (returned, _, _) in URIS.items()},
    **{uri[:30].decode(): encoded(uri) for uri in WITHOUT_METADATA},
    "hostile": encoded(HOSTILE),
    "metadata": encoded(b"data:application/json;base64," + DOCUMENT),
}


class Talking(namedtuple("Talking", "owner database_url client tokens")):
    """Item 1 of a token by what its contract says."""

    def item(self, name, client=None):
        return (client or self.client).get(f"/api/v1/tokens/{self.tokens[name]}/items/1").json


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


@pytest.mark.parametrize("name", URIS)
def test_a_uri_is_what_the_contract_returns_cleaned(talking, name):
    """A contract that fails costs its URI alone."""
    _, uri, problem = URIS[name]
    item = talking.item(name)
    assert item["tokenUri"] == uri
    assert (item["tokenUriUnavailable"] is None) == (problem is None)
    assert problem is None or problem in item["tokenUriUnavailable"]
    assert (item["transferCount"], item["ownerCount"]) == (1, 1)


def test_without_the_node_the_item_is_there_and_is_asked_for_again(talking):
    client = client_over(talking.database_url)
    away = talking.item("text", client)
    assert away["tokenUri"] is None and "node" in away["tokenUriUnavailable"]
    assert away["owner"] == talking.owner
    path = f"/api/v1/tokens/{talking.tokens['text']}/items/1"
    assert client.get(path).json == away
    client.get(other := "/api/v1/blocks")
    kept = [client.application.wsgi_app.cache.find(CacheKey(of)) for of in (path, other)]
    assert kept[0] is None and kept[1] is not None


def test_a_bep1155_is_asked_for_its_uri(client, scenario):
    forge = scenario.stage.contracts["forge"].address
    item = client.get(f"/api/v1/tokens/{forge}/items/7").json
    assert (item["tokenUri"], item["tokenUriUnavailable"]) == ("", None)
    page = client.get(f"/nft/{forge.lower()}/7").text
    assert "none: the contract returns an empty URI" in page and "URIs are read" not in page


def test_a_hostile_uri_is_text_on_its_page(talking):
    html = talking.client.get(f"/nft/{talking.tokens['hostile']}/1").text
    assert "<script>window" not in html and "&lt;script&gt;window" in html
    assert "\u202e" not in html and 'href="https' not in html and len(html) < 20_000


def test_metadata_and_picture_of_the_chain_are_shown_and_run_nothing(talking):
    item = talking.item("metadata")
    assert item["metadata"] == {
        "name": METADATA["name"],
        "description": "Shines.",
        "image": None,
        "imageType": "image/svg+xml",
        "attributes": [{"trait": "Colour", "value": "red"}],
    }
    assert item["metadataUnavailable"] is None
    path = f"/nft/{talking.tokens['metadata']}/1"
    html = talking.client.get(path).text
    assert f'src="{path}/picture"' in html and "<svg xmlns" not in html
    assert "Lamp &lt;b&gt;#1&lt;/b&gt;[U+202E]" in html and "Colour" in html
    answer = talking.client.get(f"{path}/picture")
    assert (answer.data, answer.mimetype) == (SVG, "image/svg+xml")
    policy = answer.headers["Content-Security-Policy"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("uri", WITHOUT_METADATA)
def test_an_item_without_metadata_says_why(talking, uri):
    name, problem = uri[:30].decode(), WITHOUT_METADATA[uri]
    item = talking.item(name)
    assert (item["metadata"], item["metadataUnavailable"]) == (None, problem)
    path = f"/nft/{talking.tokens[name]}/1"
    assert problem in talking.client.get(path).text
    assert talking.client.get(f"{path}/picture").status_code == 404


def test_items_of_a_token_are_listed_by_their_first_transfers(ask, truth):
    is_unique = {"BEP721": True, "BEP1155": None}
    with_items = [token for token in truth.tokens if token["type"] != "BEP20"]
    assert {token["type"] for token in with_items} == is_unique.keys()
    most_pages = 0
    for token in with_items:
        moved = [
            transfer["tokenId"]
            for transfer in reversed(truth.token_transfers)
            if transfer["tokenAddress"] == token["address"] and transfer["tokenId"] is not None
        ]
        pages = list(ask.pages(f"/tokens/{token['address']}/instances", items_count=2))
        assert [row["id"] for page in pages for row in page] == list(dict.fromkeys(moved))[::-1]
        assert {row["is_unique"] for page in pages for row in page} == {is_unique[token["type"]]}
        most_pages = max(most_pages, len(pages))
    assert most_pages > 2


def test_the_items_that_an_address_holds(ask, truth):
    holder = max(truth.addresses, key=lambda address: len(truth.tokens_held_by(address)))
    items = ask.rows(f"/addresses/{holder}/nft")
    assert len(items) == len({(i["token"]["address_hash"], i["id"]) for i in items})
    collections = ask.rows(f"/addresses/{holder}/nft/collections")
    held = truth.tokens_held_by(holder)
    nfts = {token["tokenAddress"] for token in held if token["type"] != "BEP20"}
    assert {c["token"]["address_hash"].lower() for c in collections} == nfts
