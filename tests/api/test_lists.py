"""Every list: its rows are the node's, once and in order, by number, by cursor and as a file."""

import csv
import io
import json

import pytest

from scan import VERSION
from tests.support.derived_lists import contract_creations
from tests.support.lists import Listed, by_links, get, links_of, lists_of, pages, same
from tests.support.openapi_document import OPERATIONS, TEMPLATES


@pytest.fixture(scope="module")
def read(client, truth):
    """Every list with its rows, which are the node's."""
    pairs = [(listed, by_links(client, listed, 100)) for listed in lists_of(truth)]
    for listed, rows in pairs:
        assert rows or listed.rows == [], listed.path
        if listed.rows is not None:
            same(rows, listed.rows)
    return pairs


@pytest.mark.thorough
def test_links_and_numbered_pages_of_any_size_have_every_row_in_its_place(client, read):
    for listed, rows in read:
        limit = 1 if len(rows) < 12 else 7 if len(rows) < 80 else 37
        assert by_links(client, listed, limit) == rows, listed.path
    counted = [(listed, rows) for listed, rows in read if listed.is_counted]
    assert len(counted) > 30
    for listed, rows in counted:
        limit = 2 if len(rows) < 12 else 8 if len(rows) < 80 else 38
        assert pages(client, listed.path, listed.name, limit) == rows, listed.path


def test_oldest_first_is_the_other_way_round(client, read):
    parameters = [(path, operation.get("parameters", ())) for _, path, operation in OPERATIONS]
    names = [
        (path, {p.get("name", p.get("$ref", "").rpartition("/")[2]) for p in of_path})
        for path, of_path in parameters
    ]
    ordered = [TEMPLATES[path] for path, of_path in names if {"cursor", "orderBy"} <= of_path]
    turned = [
        (listed._replace(path=listed.url(orderBy="asc").removeprefix("/api/v1")), rows[::-1])
        for listed, rows in read
        if any(template.fullmatch(listed.url().partition("?")[0]) for template in ordered)
    ]
    assert len(turned) > 30
    for listed, rows in turned:
        assert by_links(client, listed, 30) == rows, listed.path


def test_files_have_the_rows_of_the_pages(indexed, read, tmp_path):
    client = indexed.client(rate_limit_files="100000/minute", data_dir=tmp_path)
    stored = [(listed, rows) for listed, rows in read if listed.name != "logs"]
    assert len(stored) > 30
    for listed, rows in stored:
        answer = client.get(listed.url(format="ndjson"), buffered=True)
        assert answer.headers["Content-Type"] == "application/x-ndjson"
        assert [json.loads(line) for line in answer.data.splitlines()] == rows, listed.path
        text = client.get(listed.url(format="csv"), buffered=True).data.decode()
        lines = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True))
        assert len(lines) == len(rows) + 1, listed.path


def test_a_cursor_that_was_cut_off_or_altered_is_refused(client, read):
    """In every list: a position alone would be one of a later page, and the list end early."""
    sender = read[1][1][0]["fromAddress"]
    histories = [(Listed(f"/addresses/{sender}/history", "history"), [{}, {}])]
    for listed, _ in (item for item in (*read, *histories) if len(item[1]) > 1):
        cursor = client.get(listed.url(limit=1)).json["next"]
        for text in (cursor[:-1], cursor[:-4], ("A" if cursor[0] != "A" else "B") + cursor[1:]):
            answer = client.get(listed.url(cursor=text))
            assert (answer.status_code, answer.json["field"]) == (400, "cursor"), (listed, text)
    cursor = client.get("/api/v1/transactions?limit=1").json["next"][:-1]
    assert client.get(f"/api/v1/transactions?format=csv&cursor={cursor}").status_code == 400


def test_every_address_has_its_tokens_and_what_is_known_of_it(client, truth):
    for address in truth.addresses:
        path = f"/addresses/{address}"
        same(pages(client, f"{path}/tokens", "tokens", 7), truth.tokens_held_by(address))
        same([get(client, path)], [truth.address_detail(address)])


def test_every_token_and_its_holders(client, truth):
    for token in truth.tokens:
        path = f"/tokens/{token['address']}"
        same([get(client, path)], [truth.token_detail(token)])
        balances = truth.holders[token["address"]]
        holders = pages(client, f"{path}/holders", "holders", 7)
        assert {h["address"]: int(h["balance"]) for h in holders} == balances


def test_blocks_and_transactions_alone_are_those_of_the_lists(client, truth):
    for block in truth.blocks[::4]:
        detail = get(client, f"/blocks/{block['number']}")
        same([detail], [block])
        assert detail["confirmations"] == truth.head - block["number"] + 1
        assert get(client, f"/blocks/{block['hash']}") == detail
    for transaction in truth.transactions[::4]:
        detail = get(client, f"/transactions/{transaction['hash']}")
        fees = {name: int(fee) for name, fee in detail.pop("feeParts").items() if fee is not None}
        assert fees.pop("execution") == int(transaction["gasPrice"]) * int(transaction["gasUsed"])
        assert fees.keys() <= {"blob"}
        blobs = len(transaction["blobVersionedHashes"] or ())
        assert detail.pop("blobGasUsed", None) == (str(131_072 * blobs) if blobs else None)
        own = [*transaction["unproven"], "finality"]  # and what lists do not have
        unproven = detail.pop("unproven")
        assert unproven[: len(own)] == own and ("error" in unproven) is bool(detail["error"])
        same([detail | {"unproven": transaction["unproven"]}], [transaction])
        assert detail["confirmations"] == truth.head - transaction["blockNumber"] + 1


def test_stats(client, truth):
    of_the_service = {"version": VERSION, "chainName": None, "firstBlock": 0}
    same([get(client, "/stats")], [{**truth.stats, **of_the_service}])


def test_the_block_at_a_time(client, truth):
    newest = truth.blocks[0]
    block = next(b for b in truth.blocks if b["timestamp"] < newest["timestamp"])
    for time in (block["timestamp"], block["timestamp"].replace("Z", ".999+00:00")):
        assert get(client, "/blocks", time=time)["hash"] == block["hash"]
    assert get(client, "/blocks", time=99999999999)["hash"] == newest["hash"]


def test_a_list_below_a_path_takes_further_filters(client, truth):
    """And none that contradicts the path, or says it again."""
    newest, transfer = truth.transactions[0], truth.token_transfers[0]
    sender, number = newest["fromAddress"], newest["blockNumber"]
    to, token = transfer["toAddress"], transfer["tokenAddress"]
    of_block = [
        t for t in truth.transactions if (t["blockNumber"], t["fromAddress"]) == (number, sender)
    ]
    of_token = [
        t
        for t in truth.token_transfers
        if to in (t["fromAddress"], t["toAddress"]) and t["tokenAddress"] == token
    ]
    for path, name, rows, is_counted in (
        (f"/blocks/{number}/transactions?from={sender}", "transactions", of_block, True),
        (f"/addresses/{to}/transfers?tokenAddress={token}", "transfers", of_token, False),
    ):
        same(by_links(client, Listed(path, name, rows, is_counted), 50), rows)
    for token_type in {"BEP20", "BEP721", "BEP1155"} - {transfer["tokenType"]}:
        path = f"/api/v1/tokens/{token}/transfers?tokenType={token_type}"
        assert client.get(path).json["transfers"] == []
        assert client.get(f"{path}&cursor=AAAA").status_code == 400


def test_pools_with_their_trades(client, truth):
    pools = by_links(client, Listed("/pools", "pools"), 50)
    trades = {}
    for trade in truth.dex_trades:
        trades.setdefault(trade["pairAddress"], []).append(trade)
    counts = {pool: len(of_pool) for pool, of_pool in trades.items()}
    assert {p["address"]: p["tradeCount"] for p in pools if p["tradeCount"]} == counts
    order = [(p["tradeCount"], p["address"]) for p in pools]
    assert order == sorted(order, reverse=True)
    for pool in pools[: len(counts)]:
        newest = trades[pool["address"]][0]
        last = pool["lastTradeHash"], pool["lastTradeAt"]
        assert last == (newest["transactionHash"], newest["timestamp"])
        for of_pool, of_trade in (("", ""), ("Symbol", "Symbol")):
            expected = {newest[f"tokenIn{of_trade}"], newest[f"tokenOut{of_trade}"]}
            assert {pool[f"token0{of_pool}"], pool[f"token1{of_pool}"]} == expected
    dex, token = pools[0]["dex"], pools[0]["token0"]
    assert get(client, "/pools", dex=dex)["pools"] == [p for p in pools if p["dex"] == dex]
    with_token = [p for p in pools if token in (p["token0"], p["token1"])]
    assert get(client, "/pools", tokenAddress=token)["pools"] == with_token


def test_contracts_are_listed_by_their_creations(client, truth):
    """By transactions and, as traces show, by contracts; chosen by what their code says."""
    listed = Listed("/contract-creations", "contractCreations", is_counted=False)
    rows, expected = by_links(client, listed, 50), contract_creations(truth)[::-1]
    assert {None} < {creation["factory"] for creation in expected}
    same([{name: row[name] for name in expected[0]} for row in rows], expected)
    tokens = {token["address"]: token for token in truth.tokens}
    for row in rows:
        token = tokens.get(row["address"], {"name": None, "symbol": None})
        assert (row["tokenName"], row["tokenSymbol"]) == (token["name"], token["symbol"])
    for key, field in (("verified", "verified"), ("proxy", "isProxy")):
        for value in ("true", "false"):
            chosen = [row for row in rows if row[field] is (value == "true")]
            assert by_links(client, listed, 7, **{key: value}) == chosen


def test_links_lead_to_the_first_previous_next_and_last_page(indexed):
    """Below the base path of the service, with the list's filters."""
    client = indexed.client(base_path="/eth")
    path = "/eth/api/v1/transactions?limit=2&orderBy=asc&blockFrom=1"
    answer = client.get(f"{path}&page=2")
    links = links_of(answer)
    rows = {relation: client.get(link).json["transactions"] for relation, link in links.items()}
    pages = [client.get(f"{path}&page={number}").json["transactions"] for number in (1, 3)]
    last = client.get(f"{path}&page={-(-answer.json['total'] // 2)}").json["transactions"]
    assert rows == {"first": pages[0], "prev": pages[0], "next": pages[1], "last": last}
    assert links["first"] == path
    beyond = links_of(client.get(f"{path}&page=9000000000000000"))
    assert beyond["prev"] == beyond["last"] == links["last"]
    assert {*links_of(client.get(path))} == {"first", "next", "last"}
