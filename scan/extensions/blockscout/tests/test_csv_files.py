"""CSV files of API v2 have the rows of the lists that they are of."""

import csv
from collections import Counter

import pytest

from scan.ethereum.units import in_units
from scan.extensions.blockscout import csv_files
from scan.extensions.blockscout.tests.asking import most


def read(client, path, **query):
    response = client.get(f"/api/v2{path}", query_string=query)
    assert (response.status_code, response.mimetype) == (200, "text/csv"), response.text
    return [*csv.DictReader(response.text.splitlines())]


def hash_of(address):
    return "" if address is None else str(address["hash"])


@pytest.fixture
def busy(truth):
    return most(truth, "txCount")


def test_transactions_of_an_address(ask, busy):
    path = f"/addresses/{busy}/transactions"
    for side in ("", "to", "from"):
        listed = ask.rows(path, filter=side, items_count=100)
        rows = read(ask.client, f"{path}/csv", filter_type="address", filter_value=side)
        assert [
            (r["TxHash"], r["FromAddress"], r["ToAddress"], r["ContractAddress"], r["MethodName"])
            for r in rows
        ] == [
            *(
                (t["hash"], *map(hash_of, (t["from"], t["to"], t["created_contract"])), t["method"])
                for t in [{**t, "method": t["method"] or ""} for t in listed]
            )
        ]
        expected = [(t["value"], t["fee"]["value"], t["status"], t["timestamp"]) for t in listed]
        assert [(r["Value"], r["Fee"], r["Status"], r["UnixTimestamp"]) for r in rows] == expected
        types = {"": {"IN", "OUT"}, "to": {"IN", "OUT"}, "from": {"OUT"}}
        assert {r["Type"] for r in rows} <= types[side] and rows


def test_a_period_has_its_rows_alone(ask, truth, busy, monkeypatch):
    path = f"/addresses/{busy}/transactions/csv"
    rows = read(ask.client, path)
    time = rows[len(rows) // 2]["UnixTimestamp"]
    older = read(ask.client, path, to_period=time)
    newer = read(ask.client, path, from_period=time)
    assert 0 < len(older) < len(rows) and newer == rows[: len(newer)]
    assert {r["TxHash"] for r in (*older, *newer)} == {r["TxHash"] for r in rows}
    day = time[:10]
    expected = [r for r in rows if r["UnixTimestamp"][:10] == day]
    assert read(ask.client, path, from_period=day, to_period=day) == expected
    assert ask.client.get(f"/api/v2{path}?from_period=yesterday").status_code == 422
    monkeypatch.setattr(csv_files, "MOST_ROWS", 3)
    assert read(ask.client, path, to_period="2100-01-01") == rows[:3]


def test_transfers_of_an_address_and_of_a_token(ask, truth, busy):
    moved = Counter(transfer["tokenAddress"] for transfer in truth.token_transfers)
    [(token, _)] = moved.most_common(1)
    for listed, file in (
        (f"/addresses/{busy}/token-transfers", f"/addresses/{busy}/token-transfers/csv"),
        (f"/tokens/{token}/transfers", f"/tokens/{token}/transfers/csv"),
    ):
        rows, shown = read(ask.client, file), ask.rows(listed, items_count=100)
        expected = [(t["transaction_hash"], hash_of(t["from"]), hash_of(t["to"])) for t in shown]
        assert [(r["TxHash"], r["FromAddress"], r["ToAddress"]) for r in rows] == expected
        expected = [(t["token"]["address_hash"], t["total"].get("value", "")) for t in shown]
        assert [(r["TokenContractAddress"], r["TokensTransferred"]) for r in rows] == expected


def test_internal_transactions_and_logs(ask, truth):
    [(caller, _)] = Counter(t["fromAddress"] for t in truth.internal_transfers).most_common(1)
    path = f"/addresses/{caller}/internal-transactions"
    rows = read(ask.client, f"{path}/csv")
    assert [(r["TxHash"], int(r["Index"]), r["ContractAddress"], r["Value"]) for r in rows] == [
        (t["transaction_hash"], t["index"], hash_of(t["created_contract"]), t["value"])
        for t in ask.rows(path, items_count=100)
    ]
    [(emitter, _)] = Counter(t["tokenAddress"] for t in truth.token_transfers).most_common(1)
    rows = read(ask.client, f"/addresses/{emitter}/logs/csv")
    chosen = read(
        ask.client,
        f"/addresses/{emitter}/logs/csv",
        filter_type="topic",
        filter_value=rows[0]["FirstTopic"],
    )
    assert chosen == [r for r in rows if r["FirstTopic"] == rows[0]["FirstTopic"]]
    assert [(r["TxHash"], int(r["Index"]), r["Data"], r["FirstTopic"]) for r in rows] == [
        (log["transaction_hash"], log["index"], log["data"], log["topics"][0] or "")
        for log in ask.rows(f"/addresses/{emitter}/logs", items_count=100)
    ]


def test_holders_have_whole_units(ask, truth):
    for token in truth.tokens[:5]:
        holders = ask.rows(f"/tokens/{token['address']}/holders", items_count=100)
        rows = read(ask.client, f"/tokens/{token['address']}/holders/csv")
        assert [(r["HolderAddress"], r["Balance"]) for r in rows] == [
            (h["address"]["hash"], in_units(int(h["value"]), token["decimals"] or 0))
            for h in holders
        ]
