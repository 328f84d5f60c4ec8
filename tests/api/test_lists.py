"""Every list: its rows are the node's, once and in order, by number, by cursor and as a file."""

import csv
import dataclasses
import io
import json

import pytest
from flask.testing import FlaskClient

from app import create_app
from scan import VERSION
from scan.database.lists import all_entities
from tests.conftest import Played
from tests.support.indexing import Indexing
from tests.support.lists import ENTITIES, Listed, by_links, get, lists_of, pages, parties, same
from tests.support.openapi_document import OPERATIONS, TEMPLATES
from tests.support.truth import Record, Truth

NEVER_SEEN = "0x" + 40 * "9"
# Lists with tests of their own: they need a verified contract, a webhook or an entry point, or
# have no total.
TESTED_ELSEWHERE = {
    "/api/v1/contracts",
    "/api/v1/webhooks/{webhook_id}/deliveries",
    *("/api/v1/addresses/{address}/history", "/api/v1/addresses/{address}/balances"),
    "/api/v1/transactions/{transaction_hash}/user-operations",
    # In test_every_list.py.
    *(
        f"/api/v1/{name.replace('_', '-')}"
        for name in all_entities()
        if all_entities()[name].is_sparse
    ),
}


@pytest.fixture(scope="module")
def lists(scenario: Played) -> list[Listed]:
    return lists_of(scenario.truth)


@pytest.fixture(scope="module")
def truth(scenario: Played) -> Truth:
    return scenario.truth


def with_cursor() -> dict[str, set[str]]:
    """The names of the parameters of each list that has a cursor, by its path."""
    names = {
        path: {p["$ref"].rpartition("/")[2] if "$ref" in p else p["name"] for p in given}
        for _, path, operation in OPERATIONS
        if (given := operation.get("parameters", ()))
    }
    return {path: of_path for path, of_path in names.items() if "cursor" in of_path}


def test_every_list_with_a_cursor_is_tested(lists: list[Listed]) -> None:
    paths = {listed.url().partition("?")[0] for listed in lists}
    missing = [
        path
        for path in with_cursor().keys() - TESTED_ELSEWHERE
        if not any(TEMPLATES[path].fullmatch(one) for one in paths)
    ]
    assert not missing, f"lists_of() of tests/support/lists.py lacks {missing}"


def test_numbered_pages_have_every_row(client: FlaskClient, lists: list[Listed]) -> None:
    """In its place, and their number; at two sizes."""
    for listed in (one for one in lists if one.is_counted):
        rows = pages(client, listed.path, listed.name, 100)
        assert rows or listed.rows == [], listed.path
        if listed.rows is not None:
            same(rows, listed.rows)
        assert pages(client, listed.path, listed.name, 7) == rows


def test_links_lead_through_every_list(client: FlaskClient, lists: list[Listed]) -> None:
    for listed in lists:
        expected = by_links(client, listed, 100)
        if listed.rows is not None:
            same(expected, listed.rows)
        for limit in (1, 3) if len(expected) < 60 else (17,):
            assert by_links(client, listed, limit) == expected, listed.path


def test_oldest_first_is_the_other_way_round(client: FlaskClient, lists: list[Listed]) -> None:
    ordered = {path for path, names in with_cursor().items() if "orderBy" in names}
    turned = 0
    for listed in lists:
        if any(TEMPLATES[path].fullmatch(listed.url().partition("?")[0]) for path in ordered):
            oldest_first = listed._replace(path=listed.url(orderBy="asc").removeprefix("/api/v1"))
            rows = by_links(client, listed, 100)
            assert by_links(client, oldest_first, 30) == rows[::-1], listed.path
            turned += 1
    assert turned > 30


def test_files_have_the_rows_of_the_pages(
    indexed: Indexing, lists: list[Listed], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("data")
    settings = dataclasses.replace(
        indexed.settings, rate_limit_files="100000/minute", data_dir=folder
    )
    client = create_app(settings).test_client()
    for listed in (one for one in lists if one.name != "logs"):  # which are not stored here
        expected = by_links(client, listed, 100)
        answer = client.get(listed.url(format="ndjson"), buffered=True)
        assert answer.headers["Content-Type"] == "application/x-ndjson"
        assert [json.loads(line) for line in answer.data.splitlines()] == expected, listed.path
        text = client.get(listed.url(format="csv"), buffered=True).data.decode()
        lines = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True))
        assert len(lines) == len(expected) + 1, listed.path


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("entity", ENTITIES)
def test_offsets_around_checkpoints_and_ends(
    client: FlaskClient, truth: Truth, entity: str, direction: str
) -> None:
    """Every 128th entry is a checkpoint of a list; one record at a time."""
    newest_first = getattr(truth, entity)
    expected = newest_first if direction == "desc" else newest_first[::-1]
    count = len(expected)
    marks = {n + by for n in (*range(0, count, 128), count, count - 128) for by in (-1, 0, 1, 2)}
    for offset in sorted(mark for mark in marks if mark >= 0):
        body = {"entity": entity, "limit": 1, "offset": offset, "orderBy": direction}
        answer = client.post("/api/v1/query", json=body)
        assert (answer.status_code, answer.json["count"]) == (200, int(offset < count))
        same(answer.json["data"], expected[offset : offset + 1])


def test_lists_of_every_address(client: FlaskClient, truth: Truth) -> None:
    for address in truth.addresses:
        found = pages(client, "/transactions", "transactions", 100, address=address)
        same(found, truth.transactions_of(address))
        path = f"/addresses/{address}"
        moved = [t for t in truth.internal_transfers if address in parties(t)]
        same(pages(client, f"{path}/internal", "internalTransfers", 100), moved)
        same(pages(client, f"{path}/tokens", "tokens", 7), truth.tokens_held_by(address))
        same([get(client, path)], [truth.address_detail(address)])


def test_every_internal_transfer_of_every_transaction(client: FlaskClient, truth: Truth) -> None:
    assert {t["type"] for t in truth.internal_transfers} == {
        *("call", "create", "create2", "selfdestruct")
    }
    for transaction in truth.transactions:
        path = f"/transactions/{transaction['hash']}/internal"
        found = pages(client, path, "internalTransfers", 30)
        moved = [t for t in truth.internal_transfers if t["transactionHash"] == transaction["hash"]]
        assert [t["transferIndex"] for t in found] == [*range(len(found))]
        same(found, moved[::-1])


def test_every_token_and_its_holders(client: FlaskClient, truth: Truth) -> None:
    for token in truth.tokens:
        path = f"/tokens/{token['address']}"
        same([get(client, path)], [truth.token_detail(token)])
        held = truth.holders[token["address"]]
        holders = pages(client, f"{path}/holders", "holders", 7)
        assert {h["address"]: int(h["balance"]) for h in holders} == held


def test_every_block_and_transaction_alone(client: FlaskClient, truth: Truth) -> None:
    for block in truth.blocks:
        detail = get(client, f"/blocks/{block['number']}")
        same([detail], [block])
        same([get(client, f"/blocks/{block['hash']}")], [block])
        assert detail["confirmations"] == truth.head - block["number"] + 1
    for transaction in truth.transactions:
        detail = get(client, f"/transactions/{transaction['hash']}")
        fees = {name: int(fee) for name, fee in detail.pop("feeParts").items() if fee is not None}
        assert fees.pop("execution") == int(transaction["gasPrice"]) * int(transaction["gasUsed"])
        assert fees.keys() <= {"blob"}
        same([detail], [transaction])
        assert detail["confirmations"] == truth.head - transaction["blockNumber"] + 1


def test_stats(client: FlaskClient, truth: Truth) -> None:
    of_the_service = {"version": VERSION, "chainName": None, "firstBlock": 0}
    same([get(client, "/stats")], [{**truth.stats, **of_the_service}])


def test_an_address_never_seen_is_an_address_all_the_same(client: FlaskClient) -> None:
    assert get(client, f"/addresses/{NEVER_SEEN}") == {
        **{"address": NEVER_SEEN, "balance": "0", "txCount": 0, "isContract": False},
        **dict.fromkeys(("label", "firstSeen", "lastSeen", "creation")),
        **{"balanceBlock": get(client, "/stats")["latestBlock"], "recentTxs": []},
    }
    for name in ("tokens", "items", "internal"):
        [rows, total, *_] = get(client, f"/addresses/{NEVER_SEEN}/{name}").values()
        assert (rows, total) == ([], 0)


def test_times_bound_lists_as_blocks_do(client: FlaskClient, truth: Truth) -> None:
    times = sorted({block["timestamp"] for block in truth.blocks})
    first, last = times[len(times) // 4], times[3 * len(times) // 4]
    for entity in ("transactions", "token_transfers", "dex_trades", "internal_transfers", "logs"):
        expected = [r for r in getattr(truth, entity) if first <= r["timestamp"] <= last]
        given = {"timeFrom": first, "timeTo": last.replace("Z", ".999Z")}
        asked = {"entity": entity, "filter": given, "limit": 100}
        answer = client.post("/api/v1/query", json=asked).json
        same(answer["data"], expected[:100])
        assert answer["total"] == (None if entity == "logs" else len(expected))
    number = len(truth.blocks) // 2
    both = f"/blocks?timeFrom={first}&timeTo={last}&blockFrom={number}"
    same(
        by_links(client, Listed(both, "blocks"), 50),
        [b for b in truth.blocks if first <= b["timestamp"] <= last and b["number"] >= number],
    )


def test_the_block_at_a_time(client: FlaskClient, truth: Truth) -> None:
    newest = truth.blocks[0]
    block = next(b for b in truth.blocks if b["timestamp"] < newest["timestamp"])
    for time in (block["timestamp"], block["timestamp"].replace("Z", ".999+00:00")):
        assert get(client, "/blocks", time=time)["hash"] == block["hash"]
    assert get(client, "/blocks", time=99999999999)["hash"] == newest["hash"]
    assert client.get("/api/v1/blocks?time=0").status_code == 404
    assert client.get("/api/v1/blocks?time=5&limit=1").status_code == 400


def test_a_list_below_a_path_takes_further_filters(client: FlaskClient, truth: Truth) -> None:
    """And none that contradicts the path, or says it again."""
    newest = truth.transactions[0]
    sender, number = newest["fromAddress"], newest["blockNumber"]
    of_block = [t for t in truth.transactions if t["blockNumber"] == number]
    transfer = truth.token_transfers[0]
    to, token = transfer["toAddress"], transfer["tokenAddress"]
    trade = truth.dex_trades[0]
    for path, name, rows, is_counted in (
        (f"/blocks/{number}/transactions?from={sender}", "transactions",
         [t for t in of_block if t["fromAddress"] == sender],
         True),
        (f"/addresses/{to}/transfers?tokenAddress={token}", "transfers",
         [t for t in truth.token_transfers if to in parties(t) and t["tokenAddress"] == token],
         False),
        (f"/dex-trades?tokenAddress={trade['tokenIn']}&pool={trade['pairAddress']}", "trades",
         [t for t in truth.dex_trades if t["pairAddress"] == trade["pairAddress"]], False),
    ):  # fmt: skip
        same(by_links(client, Listed(path, name, rows, is_counted), 50), rows)
    for token_type in {"BEP20", "BEP721", "BEP1155"} - {transfer["tokenType"]}:
        path = f"/api/v1/tokens/{token}/transfers?tokenType={token_type}"
        assert client.get(path).json["transfers"] == []
        assert client.get(f"{path}&cursor=AAAA").status_code == 400
    for key in ("address", "maker"):
        answer = client.get(f"/api/v1/addresses/{NEVER_SEEN}/trades?{key}={NEVER_SEEN}")
        assert (answer.status_code, answer.json["field"]) == (400, key)
        assert answer.json["error"].startswith(f"Unknown query parameter '{key}'")
    for block, status in (("latest", 400), (10**9, 404), ("0x" + 64 * "1", 404)):
        assert client.get(f"/api/v1/blocks/{block}/transactions").status_code == status
    assert client.get(f"/api/v1/tokens/{NEVER_SEEN}/transfers").status_code == 404


def test_pools_with_their_trades(client: FlaskClient, truth: Truth) -> None:
    found = by_links(client, Listed("/pools", "pools"), 50)
    trades: dict[str, list[Record]] = {}
    for trade in truth.dex_trades:
        trades.setdefault(trade["pairAddress"], []).append(trade)
    counts = {pool: len(of_pool) for pool, of_pool in trades.items()}
    assert {p["address"]: p["tradeCount"] for p in found if p["tradeCount"]} == counts
    order = [(p["tradeCount"], p["address"]) for p in found]
    assert order == sorted(order, reverse=True)
    for pool in found[: len(counts)]:
        newest = trades[pool["address"]][0]
        last = pool["lastTradeHash"], pool["lastTradeAt"]
        assert last == (newest["transactionHash"], newest["timestamp"])
        for of_pool, of_trade in (("", ""), ("Symbol", "Symbol")):
            assert {pool[f"token0{of_pool}"], pool[f"token1{of_pool}"]} == {
                *(newest[f"tokenIn{of_trade}"], newest[f"tokenOut{of_trade}"])
            }
    dex, token = found[0]["dex"], found[0]["token0"]
    assert get(client, "/pools", dex=dex)["pools"] == [p for p in found if p["dex"] == dex]
    with_token = [p for p in found if token in (p["token0"], p["token1"])]
    assert get(client, "/pools", tokenAddress=token)["pools"] == with_token
