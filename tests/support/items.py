"""Who owns which id, worked out from transfer records one by one, as the API must return it."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from tests.support.anvil import ZERO
from tests.support.truth import comparable

LIMIT = 7


@dataclass
class Item:
    """`transfers` oldest first; `balances` of a BEP1155 may be below zero."""

    token: str
    token_id: str
    token_type: str
    owner: str | None = None
    balances: Counter[str] = field(default_factory=Counter)
    transfers: list = field(default_factory=list)

    def move(self, transfer):
        self.transfers.append(transfer)
        sender, recipient = transfer["fromAddress"], transfer["toAddress"]
        if self.token_type == "BEP721":
            self.owner = recipient if recipient != ZERO else None
        else:
            self.balances[sender] -= int(transfer["value"])
            self.balances[recipient] += int(transfer["value"])

    def owners(self):
        if self.token_type == "BEP721":
            return {self.owner: 1} if self.owner else {}
        return {who: much for who, much in self.balances.items() if much > 0 and who != ZERO}

    def record(self):
        return {
            "tokenAddress": self.token,
            "tokenId": self.token_id,
            "tokenType": self.token_type,
            "owner": self.owner,
            "ownerCount": len(self.owners()),
            "transferCount": len(self.transfers),
            "unproven": ["tokenType"],
        }


def items_of(transfers):
    """By token, in the order they were first moved; `transfers` come newest first."""
    items = {}
    for transfer in reversed(list(transfers)):
        if transfer["tokenId"] is not None:
            key = transfer["tokenAddress"], transfer["tokenId"]
            item = items.setdefault(key, Item(*key, transfer["tokenType"]))
            item.move(transfer)
    by_token = defaultdict(list)
    for item in items.values():
        by_token[item.token].append(item)
    return by_token


def first(item):
    """Where on the chain it was first moved."""
    transfer = item.transfers[0]
    return transfer["blockNumber"], transfer["logIndex"], transfer.get("batchIndex", 0)


def all_pages(client, path, name):
    rows = []
    for number in range(1, 10_000):
        body = client.get(f"/api/v1{path}?page={number}&limit={LIMIT}").json
        rows += body[name]
        if len(body[name]) < LIMIT:
            assert (body["total"], body["next"]) == (len(rows), None), path
            return rows
    raise AssertionError(path)


def require_same_items(client, transfers, addresses, *, deep=True):
    """Every list of items of every token and address; with `deep` every item alone, too."""
    by_token = items_of(transfers)
    held = defaultdict(list)
    for item in sorted((i for items in by_token.values() for i in items), key=first, reverse=True):
        for owner, balance in item.owners().items():
            held[owner].append((item.token, item.token_id, item.token_type, str(balance)))
    for token, items in by_token.items():
        records = all_pages(client, f"/tokens/{token}/items", "items")
        assert records == [item.record() for item in reversed(items)]
        assert client.get(f"/api/v1/tokens/{token}").json["itemCount"] == len(items)
        for item in items if deep else ():
            require_same_item(client, item)
    for address in {*addresses, *held}:
        rows = all_pages(client, f"/addresses/{address}/items", "items")
        keys = ("tokenAddress", "tokenId", "type", "balance")
        assert [tuple(row[key] for key in keys) for row in rows] == held[address], address


def require_same_item(client, item):
    path = f"/tokens/{item.token}/items/{item.token_id}"
    record = client.get(f"/api/v1{path}").json
    reported = ["tokenUri", "tokenUriUnavailable", "metadata", "metadataUnavailable"]
    assert record["unproven"] == ["tokenType", *reported]
    record["unproven"] = ["tokenType"]
    assert {key: record[key] for key in item.record()} == item.record()
    amounts = [int(owner["balance"]) for owner in record["owners"]]
    assert amounts == sorted(amounts, reverse=True)
    assert {owner["address"]: int(owner["balance"]) for owner in record["owners"]} == item.owners()
    newest = item.transfers[::-1]
    listed = all_pages(client, f"{path}/transfers", "transfers")
    assert listed[:25] == record["transfers"]
    assert list(map(comparable, listed)) == newest
