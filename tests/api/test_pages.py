"""Every page of every list, compared row by row with what the node itself says."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from scan import VERSION
from tests.conftest import Played
from tests.support.truth import Record, comparable

LIMITS = (1, 7, 100)
NEVER_SEEN = "0x" + 40 * "9"


def get(client: FlaskClient, path: str, **arguments: Any) -> Any:
    answer = client.get(f"/api/v1{path}", query_string=arguments)
    assert answer.status_code == 200, (path, arguments, answer.text)
    return answer.json


def pages(client: FlaskClient, path: str, name: str, limit: int, **arguments: Any) -> list[Record]:
    """All rows of a list by its pages, whose totals must agree with what comes."""
    rows: list[Record] = []
    totals = set()
    for page in range(1, 100_000):
        body = get(client, path, page=page, limit=limit, **arguments)
        totals.add(body["total"])
        rows += body[name]
        if len(body[name]) < limit:
            break
    assert totals == {len(rows)}
    return rows


def query(client: FlaskClient, entity: str, limit: int, **body: Any) -> Iterator[Record]:
    """All rows of an entity by its offsets."""
    for offset in range(0, 1_000_000, limit):
        asked = {"entity": entity, "limit": limit, "offset": offset, **body}
        answer = client.post("/api/v1/query", json=asked)
        assert answer.status_code == 200, answer.text
        assert (answer.json["entity"], answer.json["count"]) == (entity, len(answer.json["data"]))
        yield from answer.json["data"]
        if answer.json["count"] < limit:
            return


def same(found: list[Record], expected: list[Record]) -> None:
    """Equal in content and order, field by field."""
    assert len(found) == len(expected)
    for row, wanted in zip(found, expected, strict=True):
        assert comparable(row) == wanted


def test_stats(client: FlaskClient, scenario: Played) -> None:
    of_the_service = {"version": VERSION, "chainName": None}
    same([get(client, "/stats")], [{**scenario.truth.stats, **of_the_service}])


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", ["blocks", "transactions", "tokens", "logs"])
def test_every_page_of_a_list(client: FlaskClient, scenario: Played, name: str, limit: int) -> None:
    same(pages(client, f"/{name}", name, limit), getattr(scenario.truth, name))


ENTITIES = (
    *("blocks", "transactions", "tokens", "token_transfers", "dex_trades"),
    *("internal_transfers", "logs"),
)


@pytest.mark.parametrize("limit", [7, 100])
@pytest.mark.parametrize("entity", ENTITIES)
def test_an_entity_in_steps_of_its_limit(
    client: FlaskClient, scenario: Played, entity: str, limit: int
) -> None:
    expected = getattr(scenario.truth, entity)
    same(list(query(client, entity, limit)), expected)
    same(list(query(client, entity, limit, orderBy="asc")), expected[::-1])


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("entity", ENTITIES)
def test_offsets_around_checkpoints_and_ends(
    client: FlaskClient, scenario: Played, entity: str, direction: str
) -> None:
    """Every 128th entry is a checkpoint of a list; one record at a time."""
    newest_first = getattr(scenario.truth, entity)
    expected = newest_first if direction == "desc" else newest_first[::-1]
    count = len(expected)
    marks = {n + by for n in (*range(0, count, 128), count, count - 128) for by in (-1, 0, 1, 2)}
    for offset in sorted(mark for mark in marks if mark >= 0):
        body = {"entity": entity, "limit": 1, "offset": offset, "orderBy": direction}
        answer = client.post("/api/v1/query", json=body)
        assert (answer.status_code, answer.json["count"]) == (200, int(offset < count))
        same(answer.json["data"], expected[offset : offset + 1])


@pytest.mark.parametrize("limit", [7, 100])
def test_every_transaction_of_every_address(
    client: FlaskClient, scenario: Played, limit: int
) -> None:
    for address in scenario.truth.addresses:
        found = pages(client, "/transactions", "transactions", limit, address=address)
        same(found, scenario.truth.transactions_of(address))


@pytest.mark.parametrize("limit", [7, 100])
def test_every_internal_transfer_of_every_address(
    client: FlaskClient, scenario: Played, limit: int
) -> None:
    for address in scenario.truth.addresses:
        found = pages(client, f"/addresses/{address}/internal", "internalTransfers", limit)
        same(
            found,
            [
                t
                for t in scenario.truth.internal_transfers
                if address in (t["fromAddress"], t["toAddress"])
            ],
        )


def test_every_internal_transfer_of_every_transaction(
    client: FlaskClient, scenario: Played
) -> None:
    for transaction in scenario.truth.transactions:
        path = f"/transactions/{transaction['hash']}/internal"
        found = pages(client, path, "internalTransfers", 30)
        expected = [
            t
            for t in reversed(scenario.truth.internal_transfers)
            if t["transactionHash"] == transaction["hash"]
        ]
        assert [t["transferIndex"] for t in found] == [*range(len(found))]
        same(found, expected)


def test_internal_transfers_are_of_every_kind(scenario: Played) -> None:
    kinds = {t["type"] for t in scenario.truth.internal_transfers}
    assert kinds == {"call", "create", "create2", "selfdestruct"}


def test_every_address(client: FlaskClient, scenario: Played) -> None:
    for address in scenario.truth.addresses:
        same([get(client, f"/addresses/{address}")], [scenario.truth.address_detail(address)])


def test_an_address_never_seen_is_an_address_all_the_same(client: FlaskClient) -> None:
    detail = get(client, f"/addresses/{NEVER_SEEN}")
    head = get(client, "/stats")["latestBlock"]
    assert detail == {
        "address": NEVER_SEEN,
        "balance": "0",
        "txCount": 0,
        "isContract": False,
        "label": None,
        "firstSeen": None,
        "lastSeen": None,
        "balanceBlock": head,
        "recentTxs": [],
        "creation": None,
    }


@pytest.mark.parametrize("name", ["tokens", "items", "internal"])
def test_lists_of_an_address_never_seen_are_empty(client: FlaskClient, name: str) -> None:
    body = get(client, f"/addresses/{NEVER_SEEN}/{name}")
    [rows, total, *_] = body.values()
    assert (rows, total) == ([], 0)


def test_every_block_and_transaction_alone(client: FlaskClient, scenario: Played) -> None:
    for block in scenario.truth.blocks:
        detail = get(client, f"/blocks/{block['number']}")
        same([detail], [block])
        same([get(client, f"/blocks/{block['hash']}")], [block])
        assert detail["confirmations"] == scenario.truth.head - block["number"] + 1
    for transaction in scenario.truth.transactions:
        detail = get(client, f"/transactions/{transaction['hash']}")
        fees = {name: int(fee) for name, fee in detail.pop("feeParts").items() if fee is not None}
        assert fees.pop("execution") == int(transaction["gasPrice"]) * int(transaction["gasUsed"])
        assert fees.keys() <= {"blob"}
        same([detail], [transaction])
        assert detail["confirmations"] == scenario.truth.head - transaction["blockNumber"] + 1


def test_every_token_and_its_holders(client: FlaskClient, scenario: Played) -> None:
    for token in scenario.truth.tokens:
        found = get(client, f"/tokens/{token['address']}")
        same([found], [scenario.truth.token_detail(token)])
        found = pages(client, f"/tokens/{token['address']}/holders", "holders", 7)
        balances = [int(holder["balance"]) for holder in found]
        assert balances == sorted(balances, reverse=True)
        held = scenario.truth.holders[token["address"]]
        same(
            sorted(found, key=lambda holder: str(holder["address"])),
            [{"address": each, "balance": str(held[each])} for each in sorted(held)],
        )


def test_every_token_of_every_address(client: FlaskClient, scenario: Played) -> None:
    for address in scenario.truth.addresses:
        found = pages(client, f"/addresses/{address}/tokens", "tokens", 7)
        same(found, scenario.truth.tokens_held_by(address))
