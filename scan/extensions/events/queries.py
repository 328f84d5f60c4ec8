"""Tables of events, and the stored logs of an event in the chain's order."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import orjson

from scan.extensions.events import event_tables
from scan.extensions.events.event_tables import EventTable


class Rows(Protocol):
    """A database, or a transaction of one."""

    def rows(self, statement: str, **params: object) -> list[tuple[Any, ...]]: ...


class EventLog(NamedTuple):
    """A stored log of a followed contract, with its transaction's hash and its block's time in
    ISO 8601. `topics` are the first of the four that it has."""

    block_number: int
    log_index: int
    transaction_index: int
    transaction_hash: bytes
    timestamp: str
    topics: tuple[bytes, ...]
    data: bytes

    @property
    def position(self) -> tuple[int, int]:
        return self.block_number, self.log_index


class FollowedContract(NamedTuple):
    """A followed contract; from the block `complete_from` on all its logs are stored."""

    address: bytes
    name: str
    complete_from: int
    is_automatic: bool
    problem: str | None
    views: int


def contracts(database: Rows) -> list[FollowedContract]:
    rows = database.rows("events/contracts_list")
    return [FollowedContract(bytes(address), *rest) for address, *rest in rows]


def contract(database: Rows, address: bytes) -> FollowedContract | None:
    """Return a followed contract; None for one that is not followed."""
    return next((one for one in contracts(database) if one.address == address), None)


def tables(database: Rows, address: bytes | None = None) -> list[EventTable]:
    """Return the tables of a contract's events, or of all, by the names of their views."""
    return [
        event_tables.read_table(
            bytes(owner), name, view, event, orjson.loads(columns), orjson.loads(forms)
        )
        for owner, name, view, event, columns, forms in database.rows(
            "events/views_list", address=address
        )
    ]


def logs(
    database: Rows,
    address: bytes,
    topics: Sequence[bytes | None],
    *,
    limit: int,
    direction: str = "desc",
    after: tuple[int, int] | None = None,
    block_from: int = 0,
    block_to: int = 2**42,
) -> list[EventLog]:
    """Return stored logs of a contract with a first topic, in the chain's order or newest first,
    beginning after a position. `topics` are up to four, the first of them the event's, and None
    for any. The caller bounds how many rows it reads that match no further condition."""
    wanted = [*topics, None, None, None, None][:4]
    rows = database.rows(
        "events/logs_list",
        address=address,
        **{f"topic{n}": topic for n, topic in enumerate(wanted)},
        block_from=block_from,
        block_to=block_to,
        after_block=None if after is None else after[0],
        after_index=None if after is None else after[1],
        direction=direction,
        limit=limit,
    )
    return [
        EventLog(
            number,
            log_index,
            transaction_index,
            bytes(hash_),
            timestamp,
            tuple(bytes(topic) for topic in of_log if topic is not None),
            bytes(log_data),
        )
        for number, log_index, transaction_index, hash_, timestamp, of_log, log_data in rows
    ]


def count(database: Rows, address: bytes, topic0: bytes, most: int) -> int:
    """Return how many logs of an event are stored, at most `most`."""
    [(total,)] = database.rows("events/logs_count", address=address, topic0=topic0, most=most)
    return int(total)
