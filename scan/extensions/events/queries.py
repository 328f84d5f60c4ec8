"""Followed contracts, and the tables of their events."""

from typing import Any, NamedTuple, Protocol

import orjson

from scan.extensions.events import event_tables
from scan.extensions.events.event_tables import EventTable


class Rows(Protocol):
    """A database, or a transaction of one."""

    def rows(self, statement: str, **params: object) -> list[tuple[Any, ...]]: ...


class FollowedContract(NamedTuple):
    """A followed contract; from the block `complete_from` on all its logs are stored. `problem`
    says why older ones are not filled, `views_problem` why its views cannot be made; `left_out` are
    the events of its ABI that are no views, as they exceed bounds or are malformed, `undecoded`
    logs that are to be decoded. Of the `children` of a `factory`, `named_by` is the
    factory's event."""

    address: bytes
    name: str
    complete_from: int
    is_automatic: bool
    problem: str | None
    views_problem: str | None
    views: int
    left_out: int
    undecoded: int
    factory: bytes = b""
    named_by: str | None = None
    children: int = 0


def contracts(database: Rows) -> list[FollowedContract]:
    rows = database.rows("events/contracts_list")
    read = (FollowedContract(bytes(address), *rest) for address, *rest in rows)
    return [contract._replace(factory=bytes(contract.factory or b"")) for contract in read]


def tables(database: Rows, address: bytes | None = None) -> list[EventTable]:
    """Return the tables of a contract's events, or of all, by the names of their views."""
    return [
        event_tables.read_table(
            bytes(owner), name, view, event, orjson.loads(columns), orjson.loads(forms)
        )
        for owner, name, _, view, event, columns, forms in database.rows(
            "events/views_list", address=address
        )
    ]
