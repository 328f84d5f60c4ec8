"""The lists of the API, with the rows that the node says they have, and how clients read them."""

import itertools
from collections import Counter, defaultdict, namedtuple
from urllib.parse import parse_qsl, urlencode

from requests.utils import parse_header_links

from tests.support.brute_force import KEYS, UNCOUNTED, Chain
from tests.support.items import items_of
from tests.support.truth import comparable

# The entities with lists of their own: the path, and the name of the rows in a page.
NAMES = {
    "transactions": ("/transactions", "transactions"),
    "token_transfers": ("/token-transfers", "transfers"),
    "dex_trades": ("/dex-trades", "trades"),
    "internal_transfers": ("/internal-transfers", "internalTransfers"),
}
# Lists of an entity's rows by one filter whose value stands in the path, which may have two names;
# others are in the query.
BELOW_A_PATH = {
    ("transactions", "address"): "/addresses/{}/transactions",
    ("token_transfers", "address"): "/addresses/{}/transfers /addresses/{}/token-transfers",
    ("internal_transfers", "address"): "/addresses/{}/internal /addresses/{}/internal-transfers",
    ("dex_trades", "address"): "/addresses/{}/trades /addresses/{}/dex-trades",
    ("token_transfers", "tokenAddress"): "/tokens/{}/transfers",
}
TOKEN_TYPES = ("BEP20", "BEP721", "BEP1155")

# What the record of a single block has besides that in lists.
ONLY_OF_ONE_BLOCK = set(
    "withdrawals confirmations producerFees earned withdrawn tokenTransferCount tradeCount"
    " internalTransferCount logCount".split()
)


class Listed(namedtuple("Listed", "path name rows is_counted", defaults=(None, True))):
    """A list: its path with its filters, the name of its rows in a page, and these. `rows`: None
    where no truth has them; `is_counted`: its total is known."""

    def url(self, **window):
        arguments = urlencode(window)
        return f"/api/v1{self.path}{'&' if '?' in self.path else '?'}{arguments}"


def chain_of(truth):
    return Chain({entity: getattr(truth, entity) for entity in KEYS}, truth.created)


def lists_of(truth):
    """Every list with a cursor that the scenario has rows of."""
    busy = max(truth.addresses, key=lambda address: len(truth.transactions_of(address)))
    approver = most(truth.dex_trades, "maker")
    calls = most(truth.internal_transfers, "transactionHash")
    fullest = most(truth.transactions, "blockNumber")
    [block_hash] = [block["hash"] for block in truth.blocks if block["number"] == fullest]
    of_block = [t for t in truth.transactions if t["blockNumber"] == fullest]
    collector = next(t["toAddress"] for t in truth.token_transfers if t["tokenType"] == "BEP1155")
    return [
        Listed("/blocks", "blocks", truth.blocks),
        Listed(f"/blocks/{fullest}/transactions", "transactions", of_block),
        Listed(f"/blocks/{block_hash}/transactions", "transactions", of_block),
        Listed("/tokens", "tokens", truth.tokens),
        Listed("/logs", "logs", truth.logs),
        Listed(f"/logs?blockFrom=3&blockTo={truth.head - 3}", "logs"),
        Listed("/pools", "pools"),
        Listed("/accounts", "accounts"),
        Listed("/contract-creations", "contractCreations"),
        Listed(f"/contracts/{truth.tokens[0]['address']}/same-code", "sameCode"),
        Listed("/blobs", "blobs"),
        Listed("/stats/earnings", "earnings", is_counted=False),
        Listed(f"/transactions/{calls}/internal", "internalTransfers",
               [t for t in truth.internal_transfers if t["transactionHash"] == calls][::-1]),
        Listed(f"/addresses/{busy}/tokens", "tokens", truth.tokens_held_by(busy)),
        Listed(f"/addresses/{collector}/items", "items"),
        Listed(f"/addresses/{approver}/approvals?ended=true", "approvals"),
        *_of_entities(chain_of(truth)),
        *_of_tokens(truth),
    ]  # fmt: skip


def _of_entities(chain):
    """All rows, and by each filter those of the value that has most."""
    for entity, (path, name) in NAMES.items():
        yield Listed(path, name, chain.records[entity])
        for key in (key for key in KEYS[entity] if key != "counterparty"):  # alone it says nothing
            values = (value for values in chain.values(entity, key) for value in {*values})
            [(value, _)] = Counter(v for v in values if v is not None).most_common(1)
            rows = chain.find({"entity": entity, "filter": {key: value}})
            given = str(value).lower() if isinstance(value, bool) else value
            yield Listed(f"{path}?{key}={given}", name, rows, (entity, key) not in UNCOUNTED)
            for below in BELOW_A_PATH.get((entity, key), "").split():
                yield Listed(below.format(value.upper().replace("X", "x")), name, rows)


def _of_tokens(truth):
    """Of a token of each type."""
    items = items_of(truth.token_transfers)
    for token_type in TOKEN_TYPES:
        moved = [t for t in truth.token_transfers if t["tokenType"] == token_type]
        token = most(moved, "tokenAddress")
        of_token = [t for t in moved if t["tokenAddress"] == token]
        of_type = f"?tokenType={token_type}"
        yield Listed(f"/token-transfers{of_type}", "transfers", moved, is_counted=False)
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


def most(rows, field):
    """The value that most rows have."""
    return Counter(row[field] for row in rows if row[field] is not None).most_common(1)[0][0]


def get(client, path, **arguments):
    path, _, given = path.partition("?")
    arguments |= parse_qsl(given)
    answer = client.get(f"/api/v1{path}", query_string=arguments)
    assert answer.status_code == 200, (path, arguments, answer.text)
    return answer.json


def post(client, path, **body):
    answer = client.post(f"/api/v1{path}", json=body)
    assert answer.status_code == 200, (path, body, answer.text)
    return answer.json


def pages(client, path, name, limit, **arguments):
    """All rows of a list by its numbered pages, whose totals must agree with what comes."""
    rows = []
    totals = set()
    for page in range(1, 100_000):
        body = get(client, path, page=page, limit=limit, **arguments)
        totals.add(body["total"])
        rows += body[name]
        if len(body[name]) < limit:
            break
    assert totals == {len(rows)} and body["next"] is None, (path, arguments)
    return rows


def by_links(client, listed, limit=7, **filters):
    """All rows by the links to the next page; the total is their number, or unknown."""
    rows = []
    target = listed.url(limit=limit, **filters)
    while True:
        answer = client.get(target)
        assert answer.status_code == 200, (target, answer.text)
        rows += answer.json[listed.name]
        links = links_of(answer)
        assert rows[:limit] == client.get(links["first"]).json[listed.name], target
        if answer.json["next"] is None:
            assert "next" not in links
            if "last" in links:
                last = client.get(links["last"])
                assert last.json[listed.name] == rows[-(len(rows) % limit or limit) :], links
                assert links_of(last).get("prev") or len(rows) <= limit
            totals = (len(rows),) if listed.is_counted else (None, len(rows))
            assert answer.json["total"] in totals, target
            return rows
        assert len(answer.json[listed.name]) == limit, target
        following = links["next"]
        assert answer.json["next"] in following
        assert following != target, f"{target} is its own next page"
        target = following


def links_of(answer):
    """The paths of a response's other pages, by their relation to it."""
    return {link["rel"]: link["url"] for link in parse_header_links(answer.headers["Link"])}


def same(rows, expected):
    """Equal in content and order, field by field."""
    assert [*map(comparable, rows)] == expected


def require_same_items(client, transfers, addresses):
    """Every list of items of every token and address, and every item alone."""
    by_token = items_of(transfers)
    held = defaultdict(list)
    for item in sorted(itertools.chain.from_iterable(by_token.values()), key=_first, reverse=True):
        for owner, balance in item.owners().items():
            held[owner].append((item.token, item.token_id, item.token_type, str(balance)))
    for token, items in by_token.items():
        records = pages(client, f"/tokens/{token}/items", "items", 7)
        assert records == [item.record() for item in reversed(items)]
        assert get(client, f"/tokens/{token}")["itemCount"] == len(items)
        for item in items:
            require_same_item(client, item)
    for address in {*addresses, *held}:
        rows = pages(client, f"/addresses/{address}/items", "items", 7)
        keys = ("tokenAddress", "tokenId", "type", "balance")
        assert [tuple(row[key] for key in keys) for row in rows] == held[address], address


def require_same_item(client, item):
    path = f"/tokens/{item.token}/items/{item.token_id}"
    record = get(client, path)
    reported = ["tokenUri", "tokenUriUnavailable", "metadata", "metadataUnavailable"]
    assert record["unproven"] == ["tokenType", *reported]
    record["unproven"] = ["tokenType"]
    assert {key: record[key] for key in item.record()} == item.record()
    amounts = [int(owner["balance"]) for owner in record["owners"]]
    assert amounts == sorted(amounts, reverse=True)
    assert {owner["address"]: int(owner["balance"]) for owner in record["owners"]} == item.owners()
    listed = pages(client, f"{path}/transfers", "transfers", 7)
    assert listed[:25] == record["transfers"]
    same(listed, item.transfers[::-1])


def _first(item):
    """Where on the chain it was first moved."""
    transfer = item.transfers[0]
    return transfer["blockNumber"], transfer["logIndex"], transfer.get("batchIndex", 0)
