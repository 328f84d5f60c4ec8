"""What is asked: every read endpoint and every form of /query, at its ends and in between.

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
DEX = "uniswap-v2"


class Request(NamedTuple):
    method: str
    path: str
    body: str = ""


class Case(NamedTuple):
    """`place`: first, last, middle or any page of a list; one for a single record."""

    name: str
    place: str
    requests: list[Request]
    beside: str = "rivals"  # what it is measured beside: rivals, bare (the limits), or nothing
    has_plain: bool = True  # False where the service asks a node beside the database

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
    hot_sent: int
    hot_received: int
    hot_transfers: int
    hot_trades: int
    hot_token_transfers: int
    hot_token_holders: int
    dex_trades: int
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
        " b.dex_trades_before + b.dex_trade_count, a.transaction_count, a.sent_count,"
        " a.received_count, a.transfer_count, a.trade_count, k.transfer_count, k.holder_count,"
        " (SELECT trade_count FROM dexes WHERE name = %s)"
        " FROM blocks b, chain c, addresses a, tokens k"
        " WHERE a.address = %s AND k.address = %s ORDER BY b.number DESC LIMIT 1",
        (DEX, bytes.fromhex(HOT[2:]), bytes.fromhex(HOT_TOKEN[2:])),
    )
    counts = cursor.fetchone()
    cursor.execute("SELECT hex(address) FROM addresses ORDER BY address LIMIT %s", (DIFFERENT,))
    return Facts(*counts, [row[0] for row in cursor.fetchall()])


def cases(facts: Facts) -> list[Case]:
    return [*_lists(facts), *_details(facts), *_queries(facts), *_etherscan(facts)]


def _lists(facts: Facts) -> Iterator[Case]:
    yield _one("stats", "/stats")
    yield from _pages("blocks", "/blocks?", facts.blocks, any_beside="bare")
    yield from _pages("transactions", "/transactions?", facts.transactions)
    yield from _pages("tokens", "/tokens?", facts.tokens, any_beside="bare")
    usual = [_get(f"/transactions?address={USUAL}")]
    yield Case("transactions of an address", "first", usual, "bare")
    hot = f"/transactions?address={HOT}&"
    yield from _pages("transactions of the hottest", hot, facts.hot_transactions)
    holders = f"/tokens/{HOT_TOKEN}/holders?"
    yield from _pages(
        "holders of the hottest token", holders, facts.hot_token_holders, "bare", "bare"
    )


def _details(facts: Facts) -> Iterator[Case]:
    draw = random.Random(1)
    transactions = [_hash_of(draw.randrange(facts.transactions)) for _ in range(DIFFERENT)]
    people = [_get(f"/addresses/{address}") for address in facts.people]
    yield Case("address", "one", [_get(f"/addresses/{USUAL}")], has_plain=False)
    yield Case("address, the hottest", "one", [_get(f"/addresses/{HOT}")], has_plain=False)
    yield Case("address", "any", people, has_plain=False)
    one = [_get(f"/transactions/{transactions[0]}")]
    yield Case("transaction", "one", one, "bare", has_plain=False)
    any_one = [_get(f"/transactions/{hash_}") for hash_ in transactions]
    yield Case("transaction", "any", any_one, has_plain=False)
    yield _one("block", f"/blocks/{facts.blocks // 2}")
    yield _one("token", f"/tokens/{HOT_TOKEN}")
    held = [_get(f"/addresses/{USUAL}/tokens")]
    yield Case("tokens of an address", "first", held, "nothing")


def _queries(facts: Facts) -> Iterator[Case]:
    """Rivals run the same statement for blocks and tokens as for their lists, which have them."""
    for entity, total, beside in (
        ("transactions", facts.transactions, "rivals"),
        ("token_transfers", facts.transactions, "rivals"),
        ("dex_trades", facts.trades, "rivals"),
        ("blocks", facts.blocks, "bare"),
        ("tokens", facts.tokens, "bare"),
    ):
        yield from _windows(f"query {entity}", entity, {}, total, beside)
    for name, entity, keys, total in (
        ("address", "transactions", {"address": HOT}, facts.hot_transactions),
        ("from", "transactions", {"from": HOT}, facts.hot_sent),
        ("to", "transactions", {"to": HOT}, facts.hot_received),
        ("address", "token_transfers", {"address": HOT}, facts.hot_transfers),
        ("tokenAddress", "token_transfers", {"tokenAddress": HOT_TOKEN}, facts.hot_token_transfers),
        ("address", "dex_trades", {"address": HOT}, facts.hot_trades),
        ("dex", "dex_trades", {"dex": DEX}, facts.dex_trades),
    ):
        beside = "bare" if name in ("from", "to") else "rivals"
        yield from _windows(f"query {entity} by {name}", entity, keys, total, beside)
    yield from _queries_without_rivals(facts)


def _queries_without_rivals(facts: Facts) -> Iterator[Case]:
    """A usual key, keys together, ranges, the other order."""
    middle = facts.blocks // 2
    span = {"blockFrom": middle, "blockTo": middle + 20}
    for name, entity, keys in (
        ("transactions by a usual address", "transactions", {"address": USUAL}),
        ("token_transfers by a usual address", "token_transfers", {"address": USUAL}),
        ("token_transfers by from", "token_transfers", {"from": HOT}),
        ("token_transfers by to", "token_transfers", {"to": HOT}),
        ("token_transfers by a usual token", "token_transfers", {"tokenAddress": USUAL_TOKEN}),
        ("transactions by blockNumber", "transactions", {"blockNumber": middle}),
        ("transactions of a range", "transactions", span),
        ("token_transfers of a range", "token_transfers", span),
        ("dex_trades of a range", "dex_trades", span),
        ("blocks of a range", "blocks", span),
        ("transactions from one to another", "transactions", {"from": HOT, "to": USUAL}),
        ("transactions of an address in a range", "transactions", {"address": HOT, **span}),
        ("transfers of a token by an address", "token_transfers", {"address": HOT}
         | {"tokenAddress": HOT_TOKEN}),
        ("trades of a maker on a dex", "dex_trades", {"address": HOT, "dex": DEX}),
    ):  # fmt: skip
        yield Case(f"query {name}", "first", [_query(entity, keys, 0)], "nothing")
    oldest = _query("transactions", {}, 0, "asc")
    yield Case("query transactions, oldest first", "first", [oldest], "nothing")


def _etherscan(facts: Facts) -> Iterator[Case]:
    """The rows of "query transactions by address" in Etherscan's form, with what the node adds."""
    last = max(1, -(-facts.hot_transactions // LIMIT))
    for place, pages in (("first", [1]), ("last", [last]), ("any", _drawn(last))):
        yield Case("txlist of the hottest", place, [_txlist(page) for page in pages], "nothing")


def _txlist(page: int) -> Request:
    action = f"module=account&action=txlist&address={HOT}"
    return Request("GET", f"/api?{action}&page={page}&offset={LIMIT}&sort=desc")


def _pages(
    name: str, path: str, total: int, beside: str = "rivals", any_beside: str = "rivals"
) -> Iterator[Case]:
    last = max(1, -(-total // LIMIT))
    for place, page in (("first", 1), ("last", last)):
        yield Case(name, place, [_get(f"{path}page={page}")], beside)
    yield Case(name, "middle", [_get(f"{path}page={(last + 1) // 2}")], "nothing")
    yield Case(name, "any", [_get(f"{path}page={page}") for page in _drawn(last)], any_beside)


def _windows(
    name: str, entity: str, keys: dict[str, Any], total: int, beside: str
) -> Iterator[Case]:
    last = max(1, -(-total // LIMIT))
    for place, page in (("first", 1), ("last", last)):
        yield Case(name, place, [_query(entity, keys, (page - 1) * LIMIT)], beside)
    requests = [_query(entity, keys, number - 1) for number in _drawn(total)]
    yield Case(name, "any", requests, "bare")


def _drawn(most: int) -> list[int]:
    """Numbers from 1 in no order, as many as there are but not more than needed."""
    return random.Random(2).sample(range(1, most + 1), min(most, DIFFERENT))


def _one(name: str, path: str) -> Case:
    return Case(name, "one", [_get(path)])


def _get(path: str) -> Request:
    return Request("GET", f"/api/v1{path}")


def _query(entity: str, keys: dict[str, Any], offset: int, order: str = "desc") -> Request:
    body = {"entity": entity, "filter": keys, "limit": LIMIT, "offset": offset, "orderBy": order}
    return Request("POST", "/api/v1/query", json.dumps(body))


def _hash_of(number: int) -> str:
    """Of the number-th transaction, as seed.sql makes them."""
    return "0x" + hashlib.sha256((-1 - number).to_bytes(8, signed=True)).hexdigest()
