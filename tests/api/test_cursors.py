"""Lists continued by cursor: every row once, whatever is sent in the place of a cursor."""

import base64
import hashlib
import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scan.errors import InvalidParameter
from scan.queries.cursors import ADDRESS, AMOUNT, HASH, ORDINAL, Kind, Traversal
from tests.conftest import Played
from tests.support.brute_force import Chain, bodies, without_bounds
from tests.support.openapi_document import OPERATIONS, TEMPLATES
from tests.support.truth import Record, Truth

many = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
ENTITIES = (
    *("blocks", "transactions", "tokens", "token_transfers", "dex_trades"),
    *("internal_transfers", "logs"),
)


def ask(client: FlaskClient, body: Record) -> Record:
    answer = client.post("/api/v1/query", json=body)
    assert answer.status_code == 200, (body, answer.text)
    found: Record = answer.json
    return found


def query_all(client: FlaskClient, body: Record, limit: int) -> list[Record]:
    """By cursors alone; `total` does not change on the way."""
    rows, totals, cursor = [], set(), {}
    while True:
        page = ask(client, {**body, "limit": limit, **cursor})
        rows += page["data"]
        totals.add(page["total"])
        if page["next"] is None:
            break
        assert page["count"] == limit
        cursor = {"cursor": page["next"]}
    assert totals <= {None, len(rows)}
    return rows


def follow(client: FlaskClient, path: str, name: str) -> list[Record]:
    """A list by its links alone."""
    rows, answer = [], client.get(f"/api/v1{path}")
    while True:
        assert answer.status_code == 200, answer.text
        rows += answer.json[name]
        if answer.json["next"] is None:
            assert "Link" not in answer.headers
            assert answer.json["total"] == len(rows)
            return rows
        target, relation = answer.headers["Link"].split("; ")
        assert relation == 'rel="next"' and answer.json["next"] in target
        answer = client.get(target.strip("<>"))


def numbered(client: FlaskClient, path: str, name: str) -> list[Record]:
    rows: list[Record] = []
    for page in range(1, 1000):
        joined = f"{path}{'&' if '?' in path else '?'}limit=100&page={page}"
        found = client.get(f"/api/v1{joined}").json[name]
        rows += found
        if len(found) < 100:
            break
    return rows


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("entity", ENTITIES)
def test_every_row_of_an_entity_once(
    client: FlaskClient, scenario: Played, entity: str, direction: str
) -> None:
    body = {"entity": entity, "orderBy": direction}
    whole = query_all(client, body, 100)
    assert len(whole) == len(getattr(scenario.truth, entity)) > 0
    for limit in (7, len(whole)):
        if limit <= 100:
            assert query_all(client, body, limit) == whole


@pytest.fixture(scope="module")
def queries(scenario: Played) -> st.SearchStrategy[Record]:
    truth = scenario.truth
    return bodies(Chain({entity: getattr(truth, entity) for entity in ENTITIES}, truth.created))


@many
@given(data=st.data())
def test_a_filtered_list_goes_on_where_it_ended(
    client: FlaskClient, queries: st.SearchStrategy[Record], data: st.DataObject
) -> None:
    body = {k: v for k, v in data.draw(queries).items() if k != "offset"}
    limit = body.pop("limit", 25)
    expected = []
    for offset in range(0, 10_000, 100):
        expected += ask(client, {**body, "limit": 100, "offset": offset})["data"]
        if len(expected) < offset + 100:
            break
    assert query_all(client, body, limit) == expected


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_a_list_by_two_keys_goes_on_where_it_ended_while_the_index_changes(
    client: FlaskClient, scenario: Played, order: str
) -> None:
    """Where it changes after the bounds of a page were read, the page is read without them."""
    sender = scenario.truth.transactions[0]["fromAddress"]
    both = {"address": sender, "from": sender}
    body = {"entity": "transactions", "filter": both, "orderBy": order}
    expected = query_all(client, body, 100)
    assert len(expected) > 7
    with without_bounds():
        assert query_all(client, body, 3) == expected


def lists_of(truth: Truth) -> list[tuple[str, str]]:
    """Each list's path, and the name of its rows in the response."""
    busy = max(truth.addresses, key=lambda address: len(truth.transactions_of(address)))
    calls = max(t["transactionHash"] for t in truth.internal_transfers)
    items = [t for t in truth.token_transfers if t["tokenType"] == "BEP1155"]
    item = f"/tokens/{items[0]['tokenAddress']}/items/{items[0]['tokenId']}"
    holder = items[0]["toAddress"]
    return [
        *((f"/{name}", name) for name in ("blocks", "transactions", "tokens", "logs")),
        (f"/transactions?address={busy.upper().replace('X', 'x')}", "transactions"),
        (f"/transactions/{calls}/internal", "internalTransfers"),
        (f"/tokens/{truth.tokens[0]['address']}/holders", "holders"),
        (f"/tokens/{items[0]['tokenAddress']}/items", "items"),
        (f"{item}/transfers", "transfers"),
        (f"/addresses/{busy}/tokens", "tokens"),
        (f"/addresses/{holder}/items", "items"),
        (f"/addresses/{busy}/internal", "internalTransfers"),
        (f"/logs?blockFrom=3&blockTo={truth.stats['latestBlock'] - 3}", "logs"),
        ("/token-transfers", "transfers"),
        ("/dex-trades", "trades"),
        ("/internal-transfers", "internalTransfers"),
        *((f"/{name}", name) for name in ("pools", "accounts")),
        (f"/addresses/{busy}/transactions", "transactions"),
        (f"/addresses/{holder}/transfers", "transfers"),
        (f"/addresses/{truth.dex_trades[0]['maker']}/trades", "trades"),
        (f"/blocks/{truth.transactions[0]['blockNumber']}/transactions", "transactions"),
        (f"/tokens/{truth.tokens[0]['address']}/transfers", "transfers"),
    ]


# Lists with tests of their own: they need a verified contract, a webhook or an entry point, or
# have no total.
TESTED_ELSEWHERE = {
    "/api/v1/contracts",
    "/api/v1/webhooks/{webhook_id}/deliveries",
    *("/api/v1/addresses/{address}/history", "/api/v1/addresses/{address}/balances"),
    "/api/v1/user-operations",
    "/api/v1/transactions/{transaction_hash}/user-operations",
    *("/api/v1/blobs", "/api/v1/execution-requests"),  # as test_execution_requests.py of these
    "/api/v1/contract-creations",  # tests/api/test_contract_creations.py
    "/api/v1/authorizations",  # tests/indexer/test_authorizations.py has more than one
    "/api/v1/messages-to-l1",  # tests/indexer/test_op_stack.py has a rollup
}


def test_every_list_with_a_cursor_is_tested(scenario: Played) -> None:
    listed = {f"/api/v1{path.partition('?')[0]}" for path, _ in lists_of(scenario.truth)}
    missing = [
        path
        for _, path, operation in OPERATIONS
        if {"$ref": "#/components/parameters/cursor"} in operation.get("parameters", ())
        and path not in TESTED_ELSEWHERE
        and not any(TEMPLATES[path].fullmatch(one) for one in listed)
    ]
    assert not missing, f"lists_of() of tests/api/test_cursors.py lacks {missing}"


def test_every_list_links_to_its_next_page(client: FlaskClient, scenario: Played) -> None:
    for path, name in lists_of(scenario.truth):
        whole = numbered(client, path, name)
        assert whole, path
        for limit in (1, 3) if len(whole) < 60 else (17,):
            joined = f"{path}{'&' if '?' in path else '?'}limit={limit}"
            assert follow(client, joined, name) == whole, joined


def test_a_cursor_from_a_numbered_page_goes_on_behind_it(client: FlaskClient) -> None:
    second = client.get("/api/v1/transactions?limit=5&page=2").json
    third = client.get("/api/v1/transactions?limit=5&page=3").json
    by_cursor = client.get(f"/api/v1/transactions?limit=5&cursor={second['next']}").json
    assert by_cursor["transactions"] == third["transactions"]


def test_a_cursor_is_bound_to_its_list(client: FlaskClient, scenario: Played) -> None:
    sender = scenario.truth.transactions[0]["fromAddress"]
    body = {"entity": "transactions", "filter": {"from": sender}, "limit": 1}
    cursor = ask(client, body)["next"]
    others: list[Record] = [
        {**body, "entity": "token_transfers"},
        {**body, "filter": {}},
        {**body, "filter": {"to": sender}},
        {**body, "filter": {"from": sender, "blockFrom": 1}},
        {**body, "orderBy": "asc"},
    ]
    for other in others:
        answer = client.post("/api/v1/query", json={**other, "cursor": cursor})
        assert (answer.status_code, answer.json["code"]) == (400, "invalid_parameter"), other
        assert answer.json["field"] == "cursor"
    same = {**body, "filter": {"from": sender.upper().replace("X", "x")}, "limit": 9}
    assert ask(client, {**same, "cursor": cursor})["count"] > 0


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/blocks?page=2&cursor={}", None),
        ("/query", {"entity": "blocks", "offset": 1}),
        ("/query", {"entity": "blocks", "cursor": 5}),
        ("/query", {"entity": "blocks", "cursor": None}),
    ],
)
def test_a_cursor_stands_alone(client: FlaskClient, path: str, body: Any) -> None:
    cursor = client.get("/api/v1/blocks?limit=2").json["next"]
    if body is None:
        answer = client.get(f"/api/v1{path.format(cursor)}")
    else:
        answer = client.post(f"/api/v1{path}", json={"cursor": cursor, **body})
    assert (answer.status_code, answer.json.get("field")) == (400, "cursor")


def test_a_cursor_that_was_cut_off_or_altered_is_refused(
    client: FlaskClient, scenario: Played
) -> None:
    """In every list: a position alone would be one of a later page, and the list end early."""
    truth = scenario.truth
    histories = [f"/addresses/{address}/history" for address in list(truth.addresses)[:3]]
    cut = set()
    for path in [*histories, *(path for path, _ in lists_of(truth))]:
        joined = f"/api/v1{path}{'&' if '?' in path else '?'}"
        cursor = client.get(f"{joined}limit=1").json["next"]
        if cursor is None:
            continue  # it has one row
        cut.add(re.sub("/0x[^/]*", "", path.split("?")[0]))
        for text in (cursor[:-1], cursor[:-4], ("A" if cursor[0] != "A" else "B") + cursor[1:]):
            answer = client.get(f"{joined}cursor={text}")
            assert (answer.status_code, answer.json["field"]) == (400, "cursor"), (path, text)
            if path == "/transactions":
                assert client.get(f"{joined}format=csv&cursor={text}").status_code == 400
    expected = {"/blocks", "/tokens", "/logs", "/addresses/history", "/addresses/tokens"}
    assert {*expected, "/tokens/holders", "/tokens/items", "/addresses/items"} <= cut


@pytest.mark.check
@pytest.mark.parametrize("kind", [ORDINAL, AMOUNT, ADDRESS, HASH])
def test_no_character_of_a_cursor_can_be_changed_or_left_out(kind: Kind) -> None:
    position = b"\x12" * kind.most if kind.type is bytes else 123_456
    begun = Traversal.of("items", {}, "desc", None, [kind], has_blocks=False)
    cursor = begun.next([position])
    assert cursor is not None
    altered = {cursor[:place] + cursor[place + 1 :] for place in range(len(cursor))}
    for place in range(len(cursor)):
        altered |= {cursor[:place] + letter + cursor[place + 1 :] for letter in "AQgw7_-"}
    for text in altered - {cursor}:
        with pytest.raises(InvalidParameter):
            Traversal.of("items", {}, "desc", text, [kind], has_blocks=False)
    assert Traversal.of("items", {}, "desc", cursor, [kind], has_blocks=False).after == position


def values_of(cursor: str) -> list[str]:
    return base64.urlsafe_b64decode(cursor + "==")[8:-2].decode().split("|")


def changed(cursor: str, values: list[str]) -> str:
    """A cursor of the same list that says something else, with its check."""
    made = base64.urlsafe_b64decode(cursor + "==")[:8] + "|".join(values).encode()
    made += hashlib.blake2b(made, digest_size=2).digest()
    return base64.urlsafe_b64encode(made).decode().rstrip("=")


BAD_VALUES = ["", "-2", "+1", "1.5", "01", str(2**62 + 1), str(2**63), "9" * 100, "x", "x00", "²"]


@pytest.mark.parametrize("path", ["/transactions", "/tokens", "/blocks"])
def test_no_cursor_breaks_anything(client: FlaskClient, path: str) -> None:
    cursor = client.get(f"/api/v1{path}?limit=2").json["next"]
    values = values_of(cursor)
    bad = ["", "a", "=", "%00", "ÿ", cursor[:-2], cursor[1:], cursor + "AAAA", "A" * 601, "A" * 599]
    for place in range(len(values)):
        bad += [changed(cursor, [*values[:place], v, *values[place + 1 :]]) for v in BAD_VALUES]
        bad.append(changed(cursor, values[:place]))
    bad.append(changed(cursor, [*values, "1"]))
    for text in bad:
        answer = client.get(f"/api/v1{path}", query_string={"cursor": text})
        assert (answer.status_code, answer.json["field"]) == (400, "cursor"), text


@many
@given(text=st.text(max_size=80) | st.binary(max_size=80).map(base64.urlsafe_b64encode).map(str))
def test_any_text_is_refused(client: FlaskClient, text: str) -> None:
    answer = client.post("/api/v1/query", json={"entity": "logs", "cursor": text})
    assert answer.status_code == 400, text


@pytest.mark.parametrize("position", ["0", "1", str(2**62)])
@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("filters", [{}, {"blockFrom": 3, "blockTo": 9}])
def test_a_forged_position_gives_rows_of_the_list_or_none(
    client: FlaskClient, position: str, direction: str, filters: Record
) -> None:
    body = {"entity": "transactions", "orderBy": direction, "filter": filters, "limit": 5}
    page = ask(client, body)
    values = values_of(page["next"])
    forged = ask(client, {**body, "cursor": changed(page["next"], [position, *values[1:]])})
    assert forged["total"] == page["total"]
    for row in forged["data"]:
        assert filters.get("blockFrom", 0) <= row["blockNumber"] <= filters.get("blockTo", 10**9)
