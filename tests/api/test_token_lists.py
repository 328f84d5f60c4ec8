"""The list of tokens in each order, of one standard, and as a text finds them."""

import pytest

from scan.parameters import MAX_LIMIT
from scan.queries import tokens
from tests.support.lists import Listed, by_links, get, pages

SIGNS = " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
LAST = chr(0x10FFFF)
LOWER = {ord(upper): upper.lower() for upper in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def sorted_as(text):
    return (text.lstrip(SIGNS).translate(LOWER) or LAST)[:32].encode()


KEYS = {
    "holders": lambda token: token["holderCount"],
    # Those of a marked token may be anything.
    "transfers": lambda token: token["transferCount"] * ("inconsistentSince" not in token),
    "name": lambda token: sorted_as(token["name"]),
    "symbol": lambda token: sorted_as(token["symbol"]),
    "type": lambda token: (token["type"], token["holderCount"]),
}


def in_order(records, order, direction):
    def key(token):
        return KEYS[order](token), token["address"]

    return sorted(records, key=key, reverse=direction == "desc")


@pytest.fixture(scope="module")
def every(client):
    """All tokens, by number of holders."""
    return by_links(client, Listed("/tokens", "tokens"), limit=MAX_LIMIT)


def test_transfers_of_a_token_in_lists_are_those_of_its_own_list(client, every):
    for token in every:
        path = f"/tokens/{token['address']}/transfers"
        assert token["transferCount"] == get(client, path, limit=1)["total"]
    assert max(token["transferCount"] for token in every) > 10


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("order", tokens.ORDERS)
def test_tokens_are_listed_in_each_order_at_any_depth(client, every, order, direction):
    expected = in_order(every, order, direction)
    by = {"sort": order, "orderBy": direction}
    for limit in (1, 7):
        assert by_links(client, Listed("/tokens", "tokens"), limit, **by) == expected
    assert pages(client, "/tokens", "tokens", 7, **by) == expected
    of_default = get(client, "/tokens", sort=order, limit=MAX_LIMIT)["tokens"]
    usual = "desc" if order in ("holders", "transfers") else "asc"
    assert of_default == in_order(every, order, usual)[:MAX_LIMIT]


@pytest.mark.parametrize("order", tokens.ORDERS)
def test_tokens_of_one_standard_are_listed_in_each_order(client, every, order):
    for standard, token_type in (("ERC-721", "BEP721"), ("erc20", "BEP20"), ("BEP6909", "BEP6909")):
        listed = Listed("/tokens", "tokens", is_counted=False)
        rows = by_links(client, listed, 3, sort=order, orderBy="asc", tokenType=standard)
        own = [token for token in every if token["type"] == token_type]
        assert rows == in_order(own, order, "asc")


def test_a_text_finds_names_symbols_and_addresses_in_each_order(client, every):
    def search(text, **more):
        return by_links(client, Listed("/tokens", "tokens"), 2, q=text, **more)

    def matching(text):
        """Those that have it in their name or symbol, or whose address begins with it."""
        named = [(token, (token["name"].lower(), token["symbol"].lower())) for token in every]
        return [
            token
            for token, names in named
            if any(text in name for name in names) or token["address"].startswith(text)
        ]

    address = every[3]["address"]
    texts = ["MUSD", "mus", "Meridian", "dollar", " a ", "%", "_", "\\", "'", address, address[:7]]
    texts.append(address.upper().replace("X", "x"))
    for text in texts:
        expected = matching(text.strip().lower())
        assert search(text) == in_order(expected, "holders", "desc"), text
    assert {t["symbol"] for t in search("mus")} >= {"MUSD"}
    some = matching("a")
    assert len(some) > 5
    for order in tokens.ORDERS:
        for direction in ("asc", "desc"):
            rows = search("a", sort=order, orderBy=direction)
            assert rows == in_order(some, order, direction)
    of_type = search("a", tokenType="BEP721", sort="name")
    assert of_type == in_order([t for t in some if t["type"] == "BEP721"], "name", "asc")
    assert search("no token is called like this") == []
    assert search("  ") == every


def test_a_cursor_is_of_its_order_direction_type_and_text(client):
    begun = {"sort": "name", "limit": 2}
    cursor = get(client, "/tokens", **begun)["next"]
    assert get(client, "/tokens", **begun, cursor=cursor)["tokens"]
    for other in ({}, {"sort": "symbol"}, {"sort": "name", "orderBy": "desc"},
                  {"sort": "name", "q": "a"}, {"sort": "name", "tokenType": "BEP20"}):  # fmt: skip
        answer = client.get("/api/v1/tokens", query_string={**other, "cursor": cursor})
        assert (answer.status_code, answer.json["field"]) == (400, "cursor"), other


def test_a_file_of_the_list_is_in_its_order(client, every):
    answer = client.get("/api/v1/tokens?sort=name&format=csv")
    header, *rows = answer.text.splitlines()
    assert "transfers" in header.split(",")
    addresses = [token["address"] for token in in_order(every, "name", "asc")]
    assert [row.split(",")[0].lower() for row in rows] == addresses
