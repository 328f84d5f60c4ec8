"""CSV files of API v2 have the rows of the lists that they are of."""

import csv
from collections import Counter

from scan.ethereum.units import in_units
from scan.extensions.blockscout import csv_files
from scan.extensions.blockscout.tests.asking import most
from tests.support.expected import member


def read(client, path, **query):
    response = client.get(f"/api/v2{path}", query_string=query)
    assert (response.status_code, response.mimetype) == (200, "text/csv"), response.text
    return [*csv.DictReader(response.text.splitlines())]


def test_files_have_the_rows_of_lists(ask, truth):
    busy = most(truth, "txCount")
    [(caller, _)] = Counter(t["fromAddress"] for t in truth.internal_transfers).most_common(1)
    [(token, _)] = Counter(t["tokenAddress"] for t in truth.token_transfers).most_common(1)
    by_side = {"filter_type": "address", "filter_value": "from"}
    of_busy = {"from_address_hashes_to_include": busy, "transaction_types": "ERC-20,ERC-721"}
    # Columns of files, by what the rows of the list have.
    parties = {"FromAddress": "from.hash", "ToAddress": "to.hash"}
    of_transaction = {"TxHash": "hash", **parties, "ContractAddress": "created_contract.hash"}
    of_transaction |= {"MethodName": "method", "Value": "value", "Fee": "fee.value"}
    of_transaction |= {"Status": "status", "UnixTimestamp": "timestamp"}
    of_transfer = {"TxHash": "transaction_hash", **parties, "TokensTransferred": "total.value"}
    of_transfer |= {"TokenContractAddress": "token.address_hash"}
    of_call = {"TxHash": "transaction_hash", "Index": "index", "Value": "value"}
    of_call |= {"ContractAddress": "created_contract.hash"}
    of_log = {"TxHash": "transaction_hash", "Index": "index", "Data": "data"}
    of_log |= {"FirstTopic": "topics.0"}
    of_activity = {"TxHash": "hash", "Type": "type", "FromAddress": "from.hash"}

    def cell(row, path):
        value = member(row, path.split("."))
        return {None: "", "(absent)": ""}.get(value, str(value))

    for path, listed_by, read_by, columns in (
        (f"/addresses/{busy}/transactions", {}, {}, of_transaction),
        (f"/addresses/{busy}/transactions", {"filter": "from"}, by_side, of_transaction),
        (f"/addresses/{busy}/token-transfers", {}, {}, of_transfer),
        (f"/tokens/{token}/transfers", {}, {}, of_transfer),
        (f"/addresses/{caller}/internal-transactions", {}, {}, of_call),
        (f"/addresses/{token}/logs", {}, {}, of_log),
        ("/advanced-filters", of_busy, of_busy, of_activity),
    ):
        listed = ask.rows(path, items_count=100, **listed_by)
        rows = read(ask.client, f"{path}/csv", **read_by)
        assert (
            [{name: row[name] for name in columns} for row in rows]
            == [{name: cell(row, of) for name, of in columns.items()} for row in listed]
            != []
        ), path
    logs = read(ask.client, f"/addresses/{token}/logs/csv")
    chosen = {"filter_type": "topic", "filter_value": logs[0]["FirstTopic"]}
    assert read(ask.client, f"/addresses/{token}/logs/csv", **chosen) == [
        row for row in logs if row["FirstTopic"] == logs[0]["FirstTopic"]
    ]


def test_a_period_has_its_rows_alone(ask, truth, monkeypatch):
    path = f"/addresses/{most(truth, 'txCount')}/transactions/csv"
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


def test_holders_have_whole_units(ask, truth):
    for token in truth.tokens[:5]:
        holders = ask.rows(f"/tokens/{token['address']}/holders", items_count=100)
        rows = read(ask.client, f"/tokens/{token['address']}/holders/csv")
        assert [(r["HolderAddress"], r["Balance"]) for r in rows] == [
            (h["address"]["hash"], in_units(int(h["value"]), token["decimals"] or 0))
            for h in holders
        ]
