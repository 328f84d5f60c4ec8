"""What is asked: lists at both ends and in between, forms of /query, single records.

A case named "any" asks for something else each time, so that nothing can come from a cache; the
others ask for one thing again and again, as the front page of an explorer does.
"""

import hashlib
import json
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

LIMIT = 25
DIFFERENT = 4_000  # requests of an "any" case
NORMAL = 1_000  # about a hundred transactions in a million
NORMAL_TOKEN = 300


class Request(NamedTuple):
    method: str
    path: str
    body: str = ""


class Case(NamedTuple):
    """`place`: first, last or any page of a list; one for a single record."""

    name: str
    place: str
    requests: list[Request]
    has_plain: bool = True  # False where the service runs several statements, or calls a node

    @property
    def is_repeated(self) -> bool:
        return self.place != "any"


class Facts(NamedTuple):
    """How long the lists of one seeded chain are."""

    transactions: int
    tokens: int
    blocks: int
    trades: int
    hot_transactions: int
    hot_transfers: int
    hot_token_transfers: int
    hot_token_holders: int
    people: list[str]  # addresses that were seen, in no order


def respelled(path: str, number: int) -> str:
    """A parameter without a name is ignored, but is part of cache keys."""
    return f"{path}{'&' if '?' in path else '?'}={number}"


def address_of(kind: str, number: int) -> str:
    """As seed.sql makes them; number 0 is the hot one."""
    return "0x" + hashlib.sha256(f"{kind}{number}".encode()).digest()[:20].hex()


HOT, USUAL = address_of("person", 0), address_of("person", NORMAL)
HOT_TOKEN, USUAL_TOKEN = address_of("token", 0), address_of("token", NORMAL_TOKEN)


def read_facts(cursor: Any) -> Facts:
    cursor.execute(
        "SELECT b.transactions_before + b.transaction_count, c.token_count, b.number + 1,"
        " b.dex_trades_before + b.dex_trade_count, a.transaction_count, a.transfer_count,"
        " k.transfer_count, k.holder_count FROM blocks b, chain c, addresses a, tokens k"
        " WHERE a.address = %s AND k.address = %s ORDER BY b.number DESC LIMIT 1",
        (bytes.fromhex(HOT[2:]), bytes.fromhex(HOT_TOKEN[2:])),
    )
    counts = cursor.fetchone()
    cursor.execute("SELECT hex(address) FROM addresses ORDER BY address LIMIT %s", (DIFFERENT,))
    return Facts(*counts, [row[0] for row in cursor.fetchall()])


def cases(facts: Facts) -> Iterator[Case]:
    for name, path, total in (
        ("blocks", "/blocks?", facts.blocks),
        ("transactions", "/transactions?", facts.transactions),
        ("tokens", "/tokens?", facts.tokens),
        ("transactions of the hottest", f"/transactions?address={HOT}&", facts.hot_transactions),
        ("holders of a token", f"/tokens/{HOT_TOKEN}/holders?", facts.hot_token_holders),
    ):
        last = max(1, -(-total // LIMIT))
        yield Case(name, "first", [_get(f"{path}page=1")])
        yield Case(name, "last", [_get(f"{path}page={last}")])
        yield Case(name, "any", [_get(f"{path}page={page}") for page in _drawn(last)])
    for name, keys, total in (
        ("transactions", {}, facts.transactions),
        ("token_transfers", {}, facts.transactions),
        ("dex_trades", {}, facts.trades),
        ("transactions by address", {"address": HOT}, facts.hot_transactions),
        ("token_transfers by address", {"address": HOT}, facts.hot_transfers),
        ("token_transfers by token", {"tokenAddress": HOT_TOKEN}, facts.hot_token_transfers),
    ):
        entity = name.split()[0]
        yield Case(f"query {name}", "first", [_query(entity, keys, 0)])
        yield Case(f"query {name}", "last", [_query(entity, keys, (total - 1) // LIMIT * LIMIT)])
        requests = [_query(entity, keys, number - 1) for number in _drawn(total)]
        yield Case(f"query {name}", "any", requests)
    yield Case("stats", "one", [_get("/stats")], has_plain=False)
    yield Case("block", "one", [_get(f"/blocks/{facts.blocks // 2}")], has_plain=False)
    yield Case("token", "one", [_get(f"/tokens/{HOT_TOKEN}")])
    people = [_get(f"/addresses/{address}") for address in facts.people]
    yield Case("address", "one", [_get(f"/addresses/{USUAL}")], has_plain=False)
    yield Case("address", "any", people, has_plain=False)


def _drawn(most: int) -> list[int]:
    """Numbers from 1 in no order, as many as there are but not more than needed."""
    return random.Random(2).sample(range(1, most + 1), min(most, DIFFERENT))


def _get(path: str) -> Request:
    return Request("GET", f"/api/v1{path}")


def _query(entity: str, keys: dict[str, Any], offset: int) -> Request:
    body = {"entity": entity, "filter": keys, "limit": LIMIT, "offset": offset}
    return Request("POST", "/api/v1/query", json.dumps(body))
