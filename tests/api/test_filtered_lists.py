"""Lists by GET with their filters, by times, and pools: compared with what the node says."""

from collections import Counter
from typing import Any

import pytest
from flask.testing import FlaskClient

from app import create_app
from tests.conftest import Played
from tests.support.database import execute
from tests.support.indexing import settings_for
from tests.support.truth import Record, Truth, comparable

NAMES = {"transactions": "transactions", "token-transfers": "transfers", "dex-trades": "trades"}


def get_all(client: FlaskClient, path: str, name: str, **arguments: Any) -> list[Record]:
    """By cursors; the total is the number of rows, or not known."""
    rows: list[Record] = []
    cursor: dict[str, str] = {}
    while True:
        answer = client.get(f"/api/v1{path}", query_string={**arguments, "limit": 50, **cursor})
        assert answer.status_code == 200, (path, arguments, answer.text)
        rows += answer.json[name]
        if answer.json["next"] is None:
            assert answer.json["total"] in (None, len(rows))
            return [comparable(row) for row in rows]
        cursor = {"cursor": answer.json["next"]}


def parties(row: Record) -> set[str]:
    return {row["fromAddress"], row["toAddress"]}


@pytest.fixture(scope="module")
def truth(scenario: Played) -> Truth:
    return scenario.truth


def most(rows: list[Record], field: str) -> Any:
    return Counter(row[field] for row in rows if row[field] is not None).most_common(1)[0][0]


def test_whole_lists(client: FlaskClient, truth: Truth) -> None:
    assert get_all(client, "/token-transfers", "transfers") == truth.token_transfers
    assert get_all(client, "/dex-trades", "trades") == truth.dex_trades
    found = get_all(client, "/internal-transfers", "internalTransfers")
    assert found == truth.internal_transfers
    oldest_first = get_all(client, "/transactions", "transactions", orderBy="asc")
    assert oldest_first == truth.transactions[::-1]


@pytest.mark.parametrize(
    ("path", "entity", "key", "field"),
    [
        ("/transactions", "transactions", "from", "fromAddress"),
        ("/transactions", "transactions", "to", "toAddress"),
        ("/transactions", "transactions", "method", "methodId"),
        ("/token-transfers", "token_transfers", "tokenAddress", "tokenAddress"),
        ("/token-transfers", "token_transfers", "to", "toAddress"),
        ("/dex-trades", "dex_trades", "maker", "maker"),
        ("/dex-trades", "dex_trades", "address", "maker"),
        ("/dex-trades", "dex_trades", "dex", "dex"),
        ("/dex-trades", "dex_trades", "pool", "pairAddress"),
    ],
)
def test_lists_by_a_field(
    client: FlaskClient, truth: Truth, path: str, entity: str, key: str, field: str
) -> None:
    rows = getattr(truth, entity)
    value = most(rows, field)
    found = get_all(client, path, NAMES[path[1:]], **{key: value})
    assert found == [row for row in rows if row[field] == value]
    body = {"entity": entity, "filter": {key: value}, "limit": 100}
    same = client.post("/api/v1/query", json=body).json
    assert [comparable(row) for row in same["data"]] == found[:100]


@pytest.mark.parametrize("status", [True, False])
def test_transactions_by_status(client: FlaskClient, truth: Truth, status: bool) -> None:
    found = get_all(client, "/transactions", "transactions", status=str(status).lower())
    assert found == [row for row in truth.transactions if row["status"] is status]
    assert found
    body = {"entity": "transactions", "filter": {"status": status}, "limit": 100}
    answer = client.post("/api/v1/query", json=body).json
    assert (answer["count"], answer["total"]) == (min(100, len(found)), None)


@pytest.mark.parametrize("token_type", ["BEP20", "BEP721", "BEP1155"])
def test_transfers_by_type(client: FlaskClient, truth: Truth, token_type: str) -> None:
    of_type = [row for row in truth.token_transfers if row["tokenType"] == token_type]
    assert get_all(client, "/token-transfers", "transfers", tokenType=token_type) == of_type
    token = most(of_type, "tokenAddress")
    path = f"/tokens/{token}/transfers"
    of_token = [row for row in of_type if row["tokenAddress"] == token]
    assert get_all(client, path, "transfers", tokenType=token_type) == of_token
    other = "BEP20" if token_type != "BEP20" else "BEP721"
    assert get_all(client, path, "transfers", tokenType=other) == []
    refused = client.get(f"/api/v1{path}", query_string={"tokenType": other, "cursor": "AAAA"})
    assert refused.status_code == 400


def test_lists_of_an_address(client: FlaskClient, truth: Truth) -> None:
    trader = most(truth.dex_trades, "maker")
    for address in (trader, most(truth.token_transfers, "toAddress")):
        path = f"/addresses/{address}"
        found = get_all(client, f"{path}/transactions", "transactions")
        assert found == truth.transactions_of(address)
        found = get_all(client, f"{path}/transfers", "transfers")
        assert found == [row for row in truth.token_transfers if address in parties(row)]
        token = most(found, "tokenAddress")
        narrowed = get_all(client, f"{path}/transfers", "transfers", tokenAddress=token)
        assert narrowed == [row for row in found if row["tokenAddress"] == token]
        found = get_all(client, f"{path}/trades", "trades")
        assert found == [row for row in truth.dex_trades if row["maker"] == address]
    assert found or get_all(client, f"/addresses/{trader}/trades", "trades")


@pytest.mark.parametrize("key", ["address", "maker"])
def test_a_list_below_an_address_takes_no_other_address(client: FlaskClient, key: str) -> None:
    address = f"0x{'11' * 20}"
    answer = client.get(f"/api/v1/addresses/{address}/trades?{key}={address}")
    assert (answer.status_code, answer.json["field"]) == (400, key)
    assert answer.json["error"].startswith(f"Unknown query parameter '{key}'")


def test_trades_with_a_token_on_either_side(client: FlaskClient, truth: Truth) -> None:
    token = most(truth.dex_trades, "tokenIn")
    expected = [row for row in truth.dex_trades if token in (row["tokenIn"], row["tokenOut"])]
    assert get_all(client, "/dex-trades", "trades", tokenAddress=token) == expected
    pool = expected[0]["pairAddress"]
    narrowed = get_all(client, "/dex-trades", "trades", tokenAddress=token, pool=pool)
    assert narrowed == [row for row in expected if row["pairAddress"] == pool]


def test_transactions_of_a_block(client: FlaskClient, truth: Truth) -> None:
    number = most(truth.transactions, "blockNumber")
    block = next(block for block in truth.blocks if block["number"] == number)
    expected = [row for row in truth.transactions if row["blockNumber"] == number]
    for named in (number, block["hash"]):
        assert get_all(client, f"/blocks/{named}/transactions", "transactions") == expected
    sender = expected[0]["fromAddress"]
    path = f"/blocks/{number}/transactions"
    narrowed = get_all(client, path, "transactions", **{"from": sender, "orderBy": "asc"})
    assert narrowed == [row for row in expected[::-1] if row["fromAddress"] == sender]
    for named, status in (("latest", 400), (10**9, 404), ("0x" + 64 * "1", 404)):
        assert client.get(f"/api/v1/blocks/{named}/transactions").status_code == status


def test_times_bound_lists_as_blocks_do(client: FlaskClient, truth: Truth) -> None:
    times = sorted({block["timestamp"] for block in truth.blocks})
    first, last = times[len(times) // 4], times[3 * len(times) // 4]
    for entity in ("transactions", "token_transfers", "dex_trades", "internal_transfers", "logs"):
        expected = [r for r in getattr(truth, entity) if first <= r["timestamp"] <= last]
        given = {"timeFrom": first, "timeTo": last.replace("Z", ".999Z")}
        answer = client.post(
            "/api/v1/query", json={"entity": entity, "filter": given, "limit": 100}
        ).json
        assert [comparable(row) for row in answer["data"]] == expected[:100]
        assert answer["total"] == (None if entity == "logs" else len(expected))
    number = len(truth.blocks) // 2
    both = get_all(client, "/blocks", "blocks", timeFrom=first, timeTo=last, blockFrom=number)
    assert both == [
        b for b in truth.blocks if first <= b["timestamp"] <= last and b["number"] >= number
    ]


@pytest.mark.parametrize(
    "value",
    [
        *("", "x", "-1", "1.5", "2026-01-31", "2026-01-31T23:59:59", "2026-02-30T00:00:00Z"),
        *("2026-01-31 23:59:59Z", "2026-01-31T23:59:59+01:00", "1767225660000", "9" * 30, "²"),
    ],
)
def test_no_times(client: FlaskClient, value: str) -> None:
    for path in ("/blocks?time=", "/blocks?timeFrom=", "/token-transfers?timeTo="):
        name = path.partition("?")[2][:-1]
        answer = client.get(f"/api/v1{path.partition('?')[0]}", query_string={name: value})
        assert (answer.status_code, answer.json["field"]) == (400, name)
    for wrong in (True, 1.5, None, [], -1, 10**12):
        asked = {"entity": "blocks", "filter": {"timeFrom": wrong}}
        assert client.post("/api/v1/query", json=asked).status_code == 400


def test_the_block_at_a_time(client: FlaskClient, truth: Truth) -> None:
    newest = truth.blocks[0]
    block = max(
        (b for b in truth.blocks if b["timestamp"] < newest["timestamp"]), key=lambda b: b["number"]
    )
    for time in (block["timestamp"], block["timestamp"].replace("Z", ".999+00:00")):
        found = client.get("/api/v1/blocks", query_string={"time": time}).json
        assert found["hash"] == block["hash"]
    assert client.get("/api/v1/blocks?time=99999999999").json["hash"] == newest["hash"]
    assert client.get("/api/v1/blocks?time=0").status_code == 404
    assert client.get("/api/v1/blocks?time=5&limit=1").status_code == 400


def test_pools_with_their_trades(client: FlaskClient, truth: Truth) -> None:
    found = get_all(client, "/pools", "pools")
    counts = Counter(row["pairAddress"] for row in truth.dex_trades)
    assert {p["address"]: p["tradeCount"] for p in found if p["tradeCount"]} == dict(counts)
    order = [(p["tradeCount"], p["address"]) for p in found]
    assert order == sorted(order, reverse=True)
    for pool in found[: len(counts)]:
        newest = next(t for t in truth.dex_trades if t["pairAddress"] == pool["address"])
        assert (pool["lastTradeHash"], pool["lastTradeAt"]) == (
            newest["transactionHash"],
            newest["timestamp"],
        )
        assert {pool["token0"], pool["token1"]} == {newest["tokenIn"], newest["tokenOut"]}
        assert {pool["token0Symbol"], pool["token1Symbol"]} == {
            newest["tokenInSymbol"],
            newest["tokenOutSymbol"],
        }
    assert get_all(client, "/pools", "pools", orderBy="asc") == found[::-1]
    dex, token = found[0]["dex"], found[0]["token0"]
    assert get_all(client, "/pools", "pools", dex=dex) == [p for p in found if p["dex"] == dex]
    assert get_all(client, "/pools", "pools", tokenAddress=token) == [
        p for p in found if token in (p["token0"], p["token1"])
    ]


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/transactions?method=0xa9059cb", "method"),
        ("/transactions?status=1", "status"),
        *((f"/transactions?type={value}", "type") for value in ("256", "0x7e", "-1", "")),
        ("/token-transfers?tokenType=ERC20", "tokenType"),
        ("/dex-trades?pool=0x12", "pool"),
        ("/dex-trades?maker=0x{0}&address=0x{0}", "maker"),
        ("/addresses/0x12/transfers", "address"),
        ("/addresses/0x{0}/transfers?address=0x{0}", "address"),
        ("/pools?dex=%00", "dex"),
        ("/transactions?orderBy=newest", "orderBy"),
    ],
)
def test_filters_are_checked(client: FlaskClient, path: str, field: str) -> None:
    answer = client.get(f"/api/v1{path.format(40 * 'a')}")
    assert (answer.status_code, answer.json["field"]) == (400, field)


def test_an_unknown_token_has_no_transfers(client: FlaskClient) -> None:
    assert client.get(f"/api/v1/tokens/0x{40 * '9'}/transfers").status_code == 404


def test_verified_contracts_go_on_behind_the_same_moment(database_url: str) -> None:
    client = create_app(settings_for(database_url, "http://127.0.0.1:1")).test_client()
    execute(
        database_url,
        "INSERT INTO contracts (address, block_number, code_hash)"
        " SELECT decode(lpad(to_hex(n), 40, '0'), 'hex'), 0, sha256('code')"
        " FROM generate_series(1, 9) n",
    )
    execute(
        database_url,
        "INSERT INTO verified_contracts (address, code_hash, match, contract_name, file_path,"
        " compiler_version, settings, abi, sources, code_length, masked_hash, variable_ranges,"
        " verified_at)"
        " SELECT address, code_hash, 'full', 'C', 'C.sol', 'v0.8.26', '{}', '[]', '{}', 0, '', '',"
        " timestamptz '2026-01-01 00:00:00.123456Z' + get_byte(address, 19) / 4 * interval '1 us'"
        " FROM contracts",
    )
    whole = client.get("/api/v1/contracts").json
    assert (len(whole["contracts"]), whole["total"], whole["next"]) == (9, 9, None)
    for limit in (1, 2, 5):
        rows, cursor = [], ""
        while cursor is not None:
            joined = f"limit={limit}" + (f"&cursor={cursor}" if cursor else "")
            page = client.get(f"/api/v1/contracts?{joined}").json
            rows += page["contracts"]
            cursor = page["next"]
        assert rows == whole["contracts"]
