"""What a query must answer, found by looking at every record.

Which keys an entity has is read from sql/lists.toml; what a key means is said here, in
LISTED_BY, without the service's code.
"""

import random
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import pytest

from scan.queries import filtered_pages
from scan.queries.filter_values import FILTER_KEYS, FILTERS, QUERIED
from tests.support.truth import comparable

RANGES = ("blockFrom", "blockTo", "timeFrom", "timeTo")
# Keys by which no list is counted, even alone.
UNCOUNTED = {
    ("transactions", "method"),
    ("transactions", "status"),
    ("transactions", "nonce"),
    ("transactions", "type"),
    ("token_transfers", "tokenType"),
    ("dex_trades", "tokenAddress"),
    ("user_operations", "success"),
}
# Keys that mean the same and are refused beside each other.
ALIASES = {"dex_trades": {"maker", "address"}}


def _field(name):
    return lambda record, _: [record[name]]


def _parties(record, _):
    return [record["fromAddress"], record["toAddress"]]


def _parties_of_transaction(record, created):
    return [record["fromAddress"], record["toAddress"], created.get(record.get("hash", ""))]


def _topic(position):
    return lambda record, _: record["topics"][position : position + 1]


# The values of a key under which a record is listed, in an order of roles: sender, recipient, ….
# None is nobody's value.
LISTED_BY = {
    ("transactions", "address"): _parties_of_transaction,
    ("transactions", "counterparty"): _parties_of_transaction,
    ("transactions", "from"): _field("fromAddress"),
    ("transactions", "to"): _field("toAddress"),
    ("transactions", "method"): _field("methodId"),
    ("transactions", "status"): _field("status"),
    ("transactions", "nonce"): _field("nonce"),
    ("transactions", "type"): _field("type"),
    ("token_transfers", "address"): _parties,
    ("token_transfers", "counterparty"): _parties,
    ("token_transfers", "from"): _field("fromAddress"),
    ("token_transfers", "to"): _field("toAddress"),
    ("token_transfers", "tokenAddress"): _field("tokenAddress"),
    ("token_transfers", "tokenType"): _field("tokenType"),
    ("dex_trades", "address"): _field("maker"),
    ("dex_trades", "maker"): _field("maker"),
    ("dex_trades", "dex"): _field("dex"),
    ("dex_trades", "pool"): _field("pairAddress"),
    ("dex_trades", "tokenAddress"): lambda record, _: [record["tokenIn"], record["tokenOut"]],
    ("internal_transfers", "address"): _parties,
    ("internal_transfers", "counterparty"): _parties,
    ("internal_transfers", "from"): _field("fromAddress"),
    ("internal_transfers", "to"): _field("toAddress"),
    ("logs", "address"): _field("address"),
    **{("logs", f"topic{n}"): _topic(n) for n in range(4)},
    **{
        ("user_operations", key): _field(key)
        for key in ("sender", "paymaster", "bundler", "entryPoint", "success")
    },
}
# By kind, a value of the right form that no record has, or, of FEW_VALUES, that one may have.
ABSENT = {
    **dict.fromkeys(("address", "pool"), "0x" + 40 * "7"),
    "method": "0x77777777",
    "dex": "no such exchange",
    "flag": False,
    "nonce": 2**63 - 1,
    "transaction_type": 126,
    "token_type": "BEP1155",
    **dict.fromkeys(("event", "topic"), "0x" + 64 * "7"),
}
# For which every value of the right form may be a record's.
FEW_VALUES = {"flag", "token_type"}
DRAWN = 3  # records a key, of a combination of filters
KINDS = {filter_.key: filter_.kind for entity in QUERIED for filter_ in FILTERS[entity]}
# The keys of every entity but RANGES.
KEYS = {entity: FILTER_KEYS[entity] for entity in QUERIED}


@dataclass(frozen=True, eq=False)
class Chain:
    """Every record, newest first, by its entity; and which transaction created which contract.

    Where records are not whole, they hold what tells them apart and what filters look at.
    """

    records: dict
    created: dict  # transaction hash -> the contract it created directly
    are_whole: bool = True

    def find(self, body):
        """All records that a query's filter matches, in its order, whatever its page."""
        entity = body["entity"]
        numbers = range(len(self.records[entity]))
        filters = body.get("filter", {})
        for key, value in filters.items():
            numbers = [number for number in numbers if self._is(entity, number, key, value)]
        if (own := filters.get("counterparty")) and own == filters.get("address"):
            both = self.values(entity, "counterparty")
            numbers = [number for number in numbers if both[number].count(own) > 1]
        matching = [self.records[entity][number] for number in numbers]
        return matching[::-1] if body.get("orderBy") == "asc" else matching

    @cache  # noqa: B019  a chain lives as long as the tests of its file
    def values(self, entity, key):
        """The values of a key under which each record is listed; None where it lacks one."""
        listed_by = LISTED_BY[entity, key]
        return [listed_by(record, self.created) for record in self.records[entity]]

    def _is(self, entity, number, key, value):
        if key not in RANGES:
            return value in self.values(entity, key)[number]
        record = self.records[entity][number]
        own = _number(record) if key.startswith("block") else record["timestamp"]
        return own >= value if key.endswith("From") else own <= value


def _number(record):
    return record.get("blockNumber", record.get("number"))


def require_same(client, chain, whole, body):
    """The page of the `whole` list that the body asks for, and its length where it is known."""
    answer = client.post("/api/v1/query", json=body)
    assert answer.status_code == 200, (body, answer.text)
    first = body.get("offset", 0)
    expected = whole[first : first + body.get("limit", 25)]
    rows = [comparable(row) for row in answer.json["data"]]
    assert answer.json["count"] == len(rows), body
    if not chain.are_whole:
        names = chain.records[body["entity"]][0].keys() if chain.records[body["entity"]] else ()
        rows = [{name: row.get(name, "missing") for name in names} for row in rows]
    assert rows == expected, body
    total, length = answer.json["total"], len(whole)
    totals = _totals(body["entity"], body.get("filter", {}), length)
    assert total in totals, body  # a filter without a list that has a counter is of UNCOUNTED


def _totals(entity, filters, length):
    """What `total` may be: the length of the list, or null where nobody has counted it."""
    keys = [key for key in filters if key not in RANGES]
    if entity == "logs" or {"tokenAddress", "tokenType"} <= set(keys):
        # Null also by a topic after the first, and of the node's; a token of another type has none.
        return None, length
    is_counted = len(keys) <= 1 and not any((entity, key) in UNCOUNTED for key in keys)
    return (length,) if is_counted else (None,)


def combinations_of_keys(entity, most):
    """Every combination of up to `most` keys that may stand together; the first is of none."""
    for size in range(most + 1):
        for keys in combinations(KEYS[entity], size):
            if len(ALIASES.get(entity, set()) & {*keys}) < 2:
                yield keys


def ranges(entity):
    """A token's record is of its newest state, and of no block."""
    return () if entity == "tokens" else RANGES


@contextmanager
def without_bounds():
    """Lists by several filters are read as where the index changes after their bounds are: what is
    in a range is told by a list's own statement."""
    read = filtered_pages.bounds_of
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            filtered_pages,
            "bounds_of",
            lambda *given: (*read(*given)[:2], filtered_pages.UNBOUNDED),
        )
        yield


def in_ranges(entity, filters, whole):
    """The same filters without the oldest and without the newest block of the records that they
    match, by numbers and by times; both ends belong to a range."""
    if not ranges(entity):
        return
    numbers = sorted({_number(record) for record in whole})
    times = sorted({record["timestamp"] for record in whole})
    if len(numbers) > 1:
        yield {**filters, "blockFrom": numbers[1], "timeTo": times[-1]}
        yield {**filters, "blockTo": numbers[-2], "timeFrom": times[0]}
        yield {**filters, "timeFrom": times[len(times) // 3], "timeTo": times[-2]}


def telling_filters(chain, entity, keys):
    """Filters by these keys: of values that no record has; of the newest, the oldest and a few
    records between them, each by a value of every key, in whatever role the record has it; and the
    same with one key's value of another record, by which this one fails."""
    yield {key: ABSENT[KINDS[key]] for key in keys if KINDS[key] not in FEW_VALUES}
    columns = [chain.values(entity, key) for key in keys]
    values = [
        [[v for v in column[n] if v is not None] for column in columns]
        for n in range(len(chain.records[entity]))
    ]
    matched = [record for record in values if all(record)]
    chance = random.Random(f"{entity} {keys}")
    drawn = chance.sample(matched, min(len(matched), 2 + DRAWN * len(keys)))
    for record in [*matched[:1], *matched[-1:], *drawn]:
        filters = {key: chance.choice(of_key) for key, of_key in zip(keys, record, strict=True)}
        yield filters
        if len(keys) > 1:
            changed = chance.randrange(len(keys))
            yield filters | {keys[changed]: chance.choice(chance.choice(matched)[changed])}
