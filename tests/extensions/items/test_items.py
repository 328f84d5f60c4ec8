"""Items over HTTP: all of the scenario, what is refused, what contracts return as URI."""

import base64
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from app import create_app
from tests.api.test_bad_input import require_refusal
from tests.conftest import Played
from tests.support.anvil import Anvil, Contract
from tests.support.database import Postgres
from tests.support.indexing import Indexing, settings_for
from tests.support.items import items_of, require_same_items

UINT256 = 2**256
NOT_IDS = (
    *(" ", "-1", "+1", "01", "00", "1.0", "1e3", "1_0", "0x1", "0X1", "abc", "\u0661", "1\n"),
    *("1\0", str(UINT256), "9" * 78, "1" + 400 * "0", "%31", "null"),
)


def test_every_item_of_the_scenario(client: FlaskClient, scenario: Played) -> None:
    """Among them ids of 78 digits, burnt ones, and those of tokens that change their shape."""
    truth = scenario.truth
    require_same_items(client, truth.token_transfers, truth.addresses)
    items = [item for found in items_of(truth.token_transfers).values() for item in found]
    assert {item.token_type for item in items} == {"BEP721", "BEP1155"}
    assert str(UINT256 - 1) in {item.token_id for item in items}
    assert any(item.owner is None for item in items if item.token_type == "BEP721")


def test_a_search_for_a_token_and_an_id_leads_to_the_item(
    client: FlaskClient, scenario: Played
) -> None:
    """In the API, on the page and in its suggestions; without such an item nothing is added."""
    address = scenario.stage.contracts["keepers"].address
    token = client.get(f"/api/v1/tokens/{address}").json
    [item, *_] = client.get(f"/api/v1/tokens/{address}/items").json["items"]
    id_, value = item["tokenId"], f"{address}/{item['tokenId']}"
    for text in (f"{token['symbol']} #{id_}", f"{token['name'].upper()}#{id_}", f"lantern k {id_}"):
        [first, *_] = client.get("/api/v1/search", query_string={"q": text}).json["results"]
        assert (first["type"], first["value"]) == ("item", value), text
        assert first["name"] == f"{token['name']} #{id_}"
        assert first["match"] == ("prefix" if text.startswith("lantern") else "exact")
        assert first["holderCount"] == token["holderCount"]
        for path in ("/search", "/search/suggestions"):
            page = client.get(path, query_string={"q": text})
            assert page.status_code == 200 and f'href="/nft/{value}"' in page.text
    for text in (f"lamp {UINT256}", f"lamp #{UINT256 - 2}", "#1", "MUSD #1", "lamp", "# #1"):
        found = client.get("/api/v1/search", query_string={"q": text}).json["results"]
        assert "item" not in {record["type"] for record in found}, text


@pytest.mark.parametrize("value", NOT_IDS, ids=lambda value: ascii(value)[:20])
@pytest.mark.parametrize("below", ["", "/transfers"])
def test_what_is_no_id_is_refused(
    client: FlaskClient, scenario: Played, value: str, below: str
) -> None:
    token = scenario.stage.contracts["keepers"].address
    answer = client.get(f"/api/v1/tokens/{token}/items/{quote(value)}{below}")
    require_refusal(answer, 400, "invalid_parameter", "tokenId")
    assert client.get(f"/nft/{token}/{quote(value)}").status_code == 400


def test_tokens_without_items_and_ids_that_never_moved_are_not_found(
    client: FlaskClient, scenario: Played
) -> None:
    coin, keepers = (scenario.stage.contracts[key].address for key in ("gold", "keepers"))
    assert client.get(f"/api/v1/tokens/{coin}").json["itemCount"] is None
    for path, words in (
        (f"{coin}/items", "is a BEP20"),
        (f"{coin}/items/1", "is a BEP20"),
        (f"{coin}/items/1/transfers", "is a BEP20"),
        (f"{keepers}/items/{UINT256 - 2}", "No transfer of this id"),
        (f"{keepers}/items/{UINT256 - 2}/transfers", "No transfer of this id"),
    ):
        body = require_refusal(client.get(f"/api/v1/tokens/{path}"), 404, "not_found")
        assert words in body["error"]


class Uris:
    """A token whose contract says of the URI what the test wants it to."""

    def __init__(self, anvil: Anvil, database_url: str) -> None:
        self.anvil = anvil
        self.token = anvil.deploy(anvil.accounts[0], "Talkative")
        self.database_url = database_url
        self.mint(self.token)

    def mint(self, token: Contract, token_id: int = 1) -> None:
        args = (self.anvil.accounts[0], token_id)
        self.anvil.transact(self.anvil.accounts[0], token, "mint", *args)
        self.anvil.mine()

    def answer(self, raw: bytes) -> None:
        """From the next block on."""
        owner = self.anvil.accounts[0]
        self.anvil.transact(owner, self.token, "answer", raw, gas=28_000_000)
        self.anvil.mine()

    def index(self) -> None:
        Indexing(self.database_url, self.anvil.url).run_until(self.anvil.head())

    def client(self, url: str | None = None) -> FlaskClient:
        return create_app(settings_for(self.database_url, url or self.anvil.url)).test_client()

    def item(self, url: str | None = None) -> Any:
        return self.client(url).get(f"/api/v1/tokens/{self.token.address}/items/1").json


@pytest.fixture(scope="module")
def talking(postgres: Postgres, template: str) -> Iterator[tuple[Anvil, str]]:
    """A node and the database of its chain, on which each test has a token of its own."""
    with Anvil() as node, postgres.cloned(template) as url:
        yield node, url


@pytest.fixture
def uris(talking: tuple[Anvil, str]) -> Uris:
    return Uris(*talking)


def encoded(text: bytes) -> bytes:
    padded = text.ljust(-(-len(text) // 32) * 32, b"\0")
    return (32).to_bytes(32) + len(text).to_bytes(32) + padded


@pytest.mark.parametrize(
    ("returned", "uri", "problem"),
    [
        (encoded(b"ipfs://x/{id}.json"), "ipfs://x/{id}.json", None),
        (encoded(b""), "", None),
        (encoded(b"a\0b\x1b[31m\xff\xe2\x80\xa8c"), "ab[31m\ufffdc", None),
        (encoded(b"javascript:alert(1)"), "javascript:alert(1)", None),
        (b"", None, "no text"),
        (b"\1" * 32, None, "no text"),
        ((32).to_bytes(32) + (2**255).to_bytes(32), None, "no text"),
        (encoded(b"x" * 20_000), "x" * 20_000, None),
    ],
    ids=["text", "empty", "dirty", "script", "nothing", "word", "too far", "long"],
)
def test_a_uri_is_what_the_contract_returns_cleaned(
    uris: Uris, returned: bytes, uri: str | None, problem: str | None
) -> None:
    uris.answer(returned)
    uris.index()
    found = uris.item()
    assert found["tokenUri"] == uri
    assert (found["tokenUriUnavailable"] is None) == (problem is None)
    assert problem is None or problem in found["tokenUriUnavailable"]
    assert found["transferCount"] == 1


@pytest.mark.parametrize(
    ("mode", "problem"), [(1, "reverted"), (2, "reverted"), (3, "more than 65,536 bytes")]
)
def test_a_contract_that_fails_costs_its_uri_alone(uris: Uris, mode: int, problem: str) -> None:
    """It reverts, burns all gas, or returns a megabyte."""
    uris.anvil.transact(uris.anvil.accounts[0], uris.token, "fail", mode)
    uris.anvil.mine()
    uris.index()
    found = uris.item()
    assert found["tokenUri"] is None and problem in found["tokenUriUnavailable"]
    assert found["ownerCount"] == 1


def test_without_the_node_the_item_is_there_and_is_asked_for_again(uris: Uris) -> None:
    uris.answer(encoded(b"ipfs://x"))
    uris.index()
    away = uris.item("http://127.0.0.1:9")
    assert away["tokenUri"] is None and "node" in away["tokenUriUnavailable"]
    assert away["owner"] == uris.anvil.accounts[0]
    client = uris.client("http://127.0.0.1:9")
    answer = client.get(f"/api/v1/tokens/{uris.token.address}/items/1")
    assert "ETag" not in answer.headers
    assert uris.item()["tokenUri"] == "ipfs://x"


def test_a_bep1155_is_asked_for_its_uri(client: FlaskClient, scenario: Played) -> None:
    forge = scenario.stage.contracts["forge"].address
    found = client.get(f"/api/v1/tokens/{forge}/items/7").json
    assert (found["tokenUri"], found["tokenUriUnavailable"]) == ("", None)
    page = client.get(f"/nft/{forge.lower()}/7").text
    assert "none: the contract returns an empty URI" in page and "URIs are read" not in page


def test_a_hostile_uri_is_text_on_its_page(uris: Uris) -> None:
    uris.answer(encoded('https://x/"><script>window.ran = 1</script>\u202e'.encode() + b"y" * 9000))
    uris.index()
    html = uris.client().get(f"/nft/{uris.token.address}/1").text
    assert "<script>window" not in html and "&lt;script&gt;window" in html
    assert "\u202e" not in html and 'href="https' not in html and len(html) < 20_000


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>window.ran = 1</script></svg>'


def test_metadata_and_picture_of_the_chain_are_shown_and_run_nothing(uris: Uris) -> None:
    picture = base64.b64encode(SVG).decode()
    metadata = {
        "name": "Lamp <b>#1</b>\u202e",
        "description": "Shines.",
        "image": f"data:image/svg+xml;base64,{picture}",
        "attributes": [{"trait_type": "Colour", "value": "red"}, {"trait_type": "\u200b"}],
    }
    document = base64.b64encode(json.dumps(metadata).encode())
    uris.answer(encoded(b"data:application/json;base64," + document))
    uris.index()
    client = uris.client()
    found = client.get(f"/api/v1/tokens/{uris.token.address}/items/1").json
    assert found["metadata"] == {
        "name": "Lamp <b>#1</b>\u202e",
        "description": "Shines.",
        "image": None,
        "imageType": "image/svg+xml",
        "attributes": [{"trait": "Colour", "value": "red"}],
    }
    assert found["metadataUnavailable"] is None
    path = f"/nft/{uris.token.address}/1"
    html = client.get(path).text
    assert f'src="{path}/picture"' in html and "<svg xmlns" not in html
    assert "Lamp &lt;b&gt;#1&lt;/b&gt;[U+202E]" in html and "Colour" in html
    answer = client.get(f"{path}/picture")
    assert (answer.data, answer.mimetype) == (SVG, "image/svg+xml")
    policy = answer.headers["Content-Security-Policy"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("uri", "problem"),
    [
        (b"https://example.com/1.json", "Metadata outside the chain is not fetched here."),
        (b"data:application/json,{", "The metadata is not JSON."),
        (b"data:application/json," + b"[" * 5_000, "The metadata is not JSON."),
        (b"http://127.0.0.1/", "Only data:, https: and ipfs: URIs are read."),
    ],
)
def test_an_item_without_metadata_says_why(uris: Uris, uri: bytes, problem: str) -> None:
    uris.answer(encoded(uri))
    uris.index()
    found = uris.item()
    assert (found["metadata"], found["metadataUnavailable"]) == (None, problem)
    client = uris.client()
    assert problem in client.get(f"/nft/{uris.token.address}/1").text
    assert client.get(f"/nft/{uris.token.address}/1/picture").status_code == 404
