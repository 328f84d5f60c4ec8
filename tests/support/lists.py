"""The lists of the API, with the rows that the node says they have, and how clients read them."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from flask.testing import FlaskClient

from tests.support.items import items_of
from tests.support.truth import Record, Truth, comparable

ENTITIES = (
    *("blocks", "transactions", "tokens", "token_transfers", "dex_trades"),
    *("internal_transfers", "logs"),
)


class Listed(NamedTuple):
    """A list: its path with its filters, the name of its rows in a page, and these."""

    path: str
    name: str
    rows: list[Record] | None = None  # None where no truth has them
    is_counted: bool = True  # its total is known

    def url(self, **window: Any) -> str:
        arguments = urlencode(window)
        return f"/api/v1{self.path}{'&' if '?' in self.path else '?'}{arguments}"


def most(rows: list[Record], field: str) -> Any:
    """The value that most rows have."""
    return Counter(row[field] for row in rows if row[field] is not None).most_common(1)[0][0]


def lists_of(truth: Truth) -> list[Listed]:
    """Every list with a cursor that the scenario has rows of."""
    busy = max(truth.addresses, key=lambda address: len(truth.transactions_of(address)))
    trader, holder = most(truth.dex_trades, "maker"), most(truth.token_transfers, "toAddress")
    calls = most(truth.internal_transfers, "transactionHash")
    fullest = most(truth.transactions, "blockNumber")
    by_number = {block["number"]: block for block in truth.blocks}
    lists = [
        Listed("/blocks", "blocks", truth.blocks),
        Listed("/tokens", "tokens", truth.tokens),
        Listed("/logs", "logs", truth.logs),
        Listed(f"/logs?blockFrom=3&blockTo={truth.head - 3}", "logs"),
        *(Listed(f"/{name}", name) for name in ("pools", "accounts")),
        Listed("/contract-creations", "contractCreations"),
        Listed("/blobs", "blobs"),
        Listed("/stats/earnings", "earnings", is_counted=False),
        Listed(f"/transactions?address={busy.upper().replace('X', 'x')}", "transactions",
               truth.transactions_of(busy)),
        Listed(f"/transactions/{calls}/internal", "internalTransfers",
               [t for t in truth.internal_transfers if t["transactionHash"] == calls][::-1]),
        *(
            Listed(f"/blocks/{block}/transactions", "transactions",
                   [t for t in truth.transactions if t["blockNumber"] == fullest])
            for block in (fullest, by_number[fullest]["hash"])
        ),
    ]  # fmt: skip
    for address in (busy, trader, holder):
        lists += [
            Listed(f"/addresses/{address}/transactions", "transactions",
                   truth.transactions_of(address)),
            Listed(f"/addresses/{address}/transfers", "transfers",
                   [t for t in truth.token_transfers if address in parties(t)]),
            Listed(f"/addresses/{address}/internal", "internalTransfers",
                   [t for t in truth.internal_transfers if address in parties(t)]),
            Listed(f"/addresses/{address}/trades", "trades",
                   [t for t in truth.dex_trades if address == t["maker"]]),
            Listed(f"/addresses/{address}/tokens", "tokens", truth.tokens_held_by(address)),
        ]  # fmt: skip
    lists.append(Listed(f"/addresses/{trader}/approvals?ended=true", "approvals"))
    held = next(t["toAddress"] for t in truth.token_transfers if t["tokenType"] == "BEP1155")
    lists.append(Listed(f"/addresses/{held}/items", "items"))
    for name, rows, fields in (
        ("transactions", truth.transactions, {"from": "fromAddress", "to": "toAddress"}),
        ("token-transfers", truth.token_transfers,
         {"tokenAddress": "tokenAddress", "to": "toAddress"}),
        ("dex-trades", truth.dex_trades,
         {"maker": "maker", "address": "maker", "dex": "dex", "pool": "pairAddress"}),
        ("internal-transfers", truth.internal_transfers,
         {"from": "fromAddress", "to": "toAddress"}),
    ):  # fmt: skip
        lists.append(Listed(f"/{name}", NAMES[name], rows))
        for key, field in fields.items():
            value = most(rows, field)
            matching = [row for row in rows if row[field] == value]
            lists.append(Listed(f"/{name}?{key}={value}", NAMES[name], matching))
    method = most(truth.transactions, "methodId")
    lists += [
        Listed(f"/transactions?method={method}", "transactions",
               [t for t in truth.transactions if t["methodId"] == method], is_counted=False),
        *(
            Listed(f"/transactions?status={str(status).lower()}", "transactions",
                   [t for t in truth.transactions if t["status"] is status], is_counted=False)
            for status in (True, False)
        ),
    ]  # fmt: skip
    return [*lists, *_of_tokens(truth)]


NAMES = {
    "transactions": "transactions",
    "token-transfers": "transfers",
    "dex-trades": "trades",
    "internal-transfers": "internalTransfers",
}


def _of_tokens(truth: Truth) -> Iterator[Listed]:
    """Of a token of each type."""
    items = items_of(truth.token_transfers)
    for token_type in ("BEP20", "BEP721", "BEP1155"):
        moved = [t for t in truth.token_transfers if t["tokenType"] == token_type]
        token = most(moved, "tokenAddress")
        of_token = [t for t in moved if t["tokenAddress"] == token]
        of_type = f"?tokenType={token_type}"
        yield Listed(f"/token-transfers{of_type}", "transfers", moved, is_counted=False)
        yield Listed(f"/tokens/{token}/transfers", "transfers", of_token)
        yield Listed(f"/tokens/{token}/transfers{of_type}", "transfers", of_token, is_counted=False)
        held = sorted(truth.holders[token].items(), key=lambda h: (h[1], h[0]), reverse=True)
        holders = [{"address": address, "balance": str(balance)} for address, balance in held]
        yield Listed(f"/tokens/{token}/holders", "holders", holders)
        if token_type != "BEP20":
            most_moved = max(items[token], key=lambda item: len(item.transfers))
            path = f"/tokens/{token}/items/{most_moved.token_id}/transfers"
            yield Listed(path, "transfers", most_moved.transfers[::-1])
            records = [item.record() for item in items[token]]
            yield Listed(f"/tokens/{token}/items", "items", records[::-1])
    for token in {trade["tokenIn"] for trade in truth.dex_trades[:5]}:
        either = [t for t in truth.dex_trades if token in (t["tokenIn"], t["tokenOut"])]
        path = f"/dex-trades?tokenAddress={token}"
        yield Listed(path, "trades", either, is_counted=False)


def parties(row: Record) -> set[str]:
    return {row["fromAddress"], row["toAddress"]}


def get(client: FlaskClient, path: str, **arguments: Any) -> Any:
    path, _, given = path.partition("?")
    arguments |= parse_qsl(given)
    answer = client.get(f"/api/v1{path}", query_string=arguments)
    assert answer.status_code == 200, (path, arguments, answer.text)
    return answer.json


def pages(client: FlaskClient, path: str, name: str, limit: int, **arguments: Any) -> list[Record]:
    """All rows of a list by its numbered pages, whose totals must agree with what comes."""
    rows: list[Record] = []
    totals = set()
    for page in range(1, 100_000):
        body = get(client, path, page=page, limit=limit, **arguments)
        totals.add(body["total"])
        rows += body[name]
        if len(body[name]) < limit:
            break
    assert totals == {len(rows)} and body["next"] is None, (path, arguments)
    return rows


def by_links(
    client: FlaskClient, listed: Listed, limit: int = 7, **filters: object
) -> list[Record]:
    """All rows by the links to the next page; the total is their number, or unknown."""
    rows: list[Record] = []
    target: str = listed.url(limit=limit, **filters)
    while True:
        answer = client.get(target)
        assert answer.status_code == 200, (target, answer.text)
        rows += answer.json[listed.name]
        if answer.json["next"] is None:
            assert "Link" not in answer.headers
            totals = (len(rows),) if listed.is_counted else (None, len(rows))
            assert answer.json["total"] in totals, target
            return rows
        assert len(answer.json[listed.name]) == limit, target
        link, relation = answer.headers["Link"].split("; ")
        assert relation == 'rel="next"' and answer.json["next"] in link
        target = link.strip("<>")


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
