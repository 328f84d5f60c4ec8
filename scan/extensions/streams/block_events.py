"""The chain's events after a position, block by block, and the events that a fork removed; and the
filters of streams: types, addresses, tokens and topics of the events that one sends.

After a restart many clients resume at nearby positions, and advance in turns: they share reads of
blocks.
"""

import re
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from scan import parameters
from scan.cached_values import SizedCache
from scan.database.connection import Database
from scan.errors import InvalidParameter, PositionLost
from scan.extensions.logs.queries import TOPIC_NAMES
from scan.hex import to_hex

TYPES = ("heads", "transactions", "token_transfers", "internal_transfers", "dex_trades", "logs")
MAX_BLOCKS = 10_000  # between a position and the newest block
MAX_EVENTS = 500  # of one block at once
ORPHANED_BYTES = 64 * 1024 * 1024  # held at once, as much as one block may have

_END = 2**31 - 1
_POSITION = re.compile(r"(0|[1-9][0-9]{0,17})-0x([0-9a-f]{64})-(0|[1-9][0-9]{0,9})", re.ASCII)


class Position(NamedTuple):
    """A position in the chain, after the first `event_count` events of a block."""

    number: int
    hash: bytes
    event_count: int

    def __str__(self) -> str:
        return f"{self.number}-0x{self.hash.hex()}-{self.event_count}"


class BlockEvent(NamedTuple):
    """An event; `json` is its record as text, `position` where a reader stands after it."""

    position: str
    type: str
    record: dict[str, Any]
    json: bytes


class Events(NamedTuple):
    """Events in the order they are sent, and the position after them.

    `version` is that of the index when they were read. No events follow a position that
    `is_newest`; one that `is_ahead` is in a block that this database does not have yet, or was read
    from a newer one.
    """

    events: list[BlockEvent]
    position: Position
    version: int
    is_newest: bool = False
    is_ahead: bool = False


def parse_position(text: str, name: str) -> Position:
    match = _POSITION.fullmatch(text)
    if match is None or int(match[3]) > _END:
        raise InvalidParameter(f"{name} must be the id of an event of a stream.", field=name)
    return Position(int(match[1]), bytes.fromhex(match[2]), int(match[3]))


def read_newest(database: Database) -> Events | None:
    """Return the position after all events; None where nothing is indexed."""
    row = database.row("queries/block_events_get_end")
    if row is None:
        return None
    number, block_hash, event_count, version = row
    return Events([], Position(number, bytes(block_hash), event_count), version, is_newest=True)


class OrphanedEvents:
    """Events of orphaned blocks, each read once for all readers, who get them in pieces."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._held: dict[bytes, list[str]] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    def lines(self, block_hash: bytes) -> list[str]:
        """Return a block's events as lines of type and record; one block is read at a time."""
        with self._lock:
            if block_hash not in self._held:
                text = self._database.value("queries/orphaned_blocks_get_events", hash=block_hash)
                if self._bytes + len(text or "") > ORPHANED_BYTES:
                    self._held, self._bytes = {}, 0
                self._bytes += len(text or "")
                self._held[block_hash] = text.split("\n") if text else []
            return self._held[block_hash]

    def forget(self) -> None:
        with self._lock:
            self._held, self._bytes = {}, 0


def read_next(
    database: Database,
    position: Position,
    types: Collection[str],
    orphaned: OrphanedEvents,
    known_version: int = 0,
    max_events: int = MAX_EVENTS,
) -> Events:
    """Return the next events of `types`, perhaps none; raises PositionLost.

    Nothing is returned of an index older than `known_version`, as another replica may have.
    """
    row = database.row(
        "queries/block_events_get_next", **position._asdict(), types=sorted(types), size=max_events
    )
    assert row is not None
    newest, count, number, block_hash, first, total, lines, parent_hash, has_events, version = row
    if version < known_version:
        return Events([], position, known_version, is_ahead=True)
    if parent_hash is not None:
        if not has_events:
            raise PositionLost(
                f"The fork that removed block {position.number} was too deep for a stream to"
                " follow. Read lists again from before it, and open a stream without a position."
            )
        removed = _removed(position, bytes(parent_hash), types, orphaned, max_events)
        return Events(*removed, version)
    if count is None and (newest is None or position.number > newest):
        return Events([], position, version, is_ahead=True)
    if count is None or newest - position.number > MAX_BLOCKS:
        raise PositionLost(
            f"The position in block {position.number} is unknown, or more than {MAX_BLOCKS} blocks"
            " old. Read lists from there, and open a stream without it."
        )
    if number is None:
        return Events([], position._replace(event_count=count), version, is_newest=True)
    after = Position(number, bytes(block_hash), min(first + max_events, total))
    return Events(_added(after, lines), after, version)


def _added(position: Position, lines: str | None) -> list[BlockEvent]:
    events = []
    for line in lines.split("\n") if lines else ():
        index, event_type, text = line.split(" ", 2)
        record = orjson.loads(text)
        after = str(position._replace(event_count=int(index) + 1))
        events.append(BlockEvent(after, event_type, record, text.encode()))
    return events


def _removed(
    position: Position,
    parent_hash: bytes,
    types: Collection[str],
    orphaned: OrphanedEvents,
    max_events: int,
) -> tuple[list[BlockEvent], Position]:
    """Return as removed the events that a reader has had of an orphaned block, the last first, and
    the position after them."""
    parent = Position(position.number - 1, parent_hash, _END)
    if not types:  # nothing is sent, and nothing read
        return [], parent
    lines = orphaned.lines(position.hash)
    last = min(position.event_count, len(lines))
    first = max(last - max_events, 0)
    events = []
    for index in range(last - 1, first - 1, -1):
        event_type, text = lines[index].split(" ", 1)
        if event_type in types:
            record = {**orjson.loads(text), "removed": True}
            before = str(position._replace(event_count=index))
            events.append(BlockEvent(before, event_type, record, orjson.dumps(record)))
    return events, position._replace(event_count=first) if first else parent


MAX_ADDRESSES = 100
FILTER_KEYS = ("types", "address", "token", *TOPIC_NAMES)
# The fields of records that a filter's addresses are compared with. Heads are not filtered.
PARTIES = {
    "transactions": ("fromAddress", "toAddress", "contractAddress"),
    "token_transfers": ("fromAddress", "toAddress"),
    "internal_transfers": ("fromAddress", "toAddress"),
    "dex_trades": ("maker", "pairAddress"),
    "logs": ("address",),
}
TOKENS = {"token_transfers": ("tokenAddress",), "dex_trades": ("tokenIn", "tokenOut")}


Key = tuple[str, str | None]  # a type of events, and an address or topic


class StreamFilter(NamedTuple):
    """A stream's filter, in hex as in records; what is empty or None matches every event."""

    types: frozenset[str]
    addresses: frozenset[str] = frozenset()
    tokens: frozenset[str] = frozenset()
    topics: tuple[str | None, ...] = ()

    def matches(self, event: BlockEvent) -> bool:
        if event.type not in self.types:
            return False
        if event.type == "heads":
            return True
        if self.addresses and self.addresses.isdisjoint(parties(event)):
            return False
        fields = TOKENS.get(event.type, ())
        if self.tokens and fields and self.tokens.isdisjoint(event.record[f] for f in fields):
            return False
        if event.type != "logs" or not self.topics:
            return True
        topics = event.record["topics"]
        return len(topics) >= len(self.topics) and all(
            topic in (None, topics[index]) for index, topic in enumerate(self.topics)
        )

    def index_keys(self) -> Iterator[Key]:
        """Return keys, one of which each event has, besides heads, that the filter matches: it is
        compared with few filters, however many there are."""
        for event_type in self.types - {"heads"}:
            selected: Collection[str | None] = self.addresses
            if not selected and event_type in TOKENS:
                selected = self.tokens
            if not selected and event_type == "logs":
                selected = [topic for topic in self.topics if topic][:1]
            yield from ((event_type, key) for key in selected or (None,))


def parties(event: BlockEvent) -> list[str]:
    """Return the event's addresses that filters are compared with; a head has none."""
    return [event.record[field] for field in PARTIES.get(event.type, ())]


def index_keys(event: BlockEvent) -> set[Key]:
    tokens = [event.record[field] for field in TOKENS.get(event.type, ())]
    topics = event.record["topics"] if event.type == "logs" else ()
    return {(event.type, key) for key in (None, *parties(event), *tokens, *topics)}


def read_filter(arguments: Mapping[str, str]) -> StreamFilter:
    """Return the filter of the parameters FILTER_KEYS.

    Raises InvalidParameter, also for a parameter that has no effect on the chosen types.
    """
    names = arguments.get("types", "heads").split(",")
    types = [parameters.one_of(name, "types", TYPES) for name in names]
    topics = [
        to_hex(parameters.hash32(arguments[name], name)) if name in arguments else None
        for name in TOPIC_NAMES
    ]
    while topics and topics[-1] is None:  # it would leave out logs with fewer topics
        topics.pop()
    stream_filter = StreamFilter(
        frozenset(types),
        _addresses(arguments, "address"),
        _addresses(arguments, "token"),
        tuple(topics),
    )
    for name, value, narrowed in (
        ("address", stream_filter.addresses, PARTIES),
        ("token", stream_filter.tokens, TOKENS),
        ("topic", topics, ("logs",)),
    ):
        if value and stream_filter.types.isdisjoint(narrowed):
            message = f"{name} has no effect on these types; it is for {', '.join(narrowed)}."
            raise InvalidParameter(message, field="types")
    return stream_filter


def _addresses(arguments: Mapping[str, str], name: str) -> frozenset[str]:
    if name not in arguments:
        return frozenset()
    texts = arguments[name].split(",")
    if len(texts) > MAX_ADDRESSES:
        raise InvalidParameter(f"{name} takes at most {MAX_ADDRESSES} addresses.", field=name)
    return frozenset(to_hex(parameters.address(text, name)) for text in texts)


CACHE_BYTES = 32 * 1024 * 1024
# A block's events do not change, but those that a fork removed are known for a limited time.
MAX_AGE_S = 60.0
# In memory: a record takes about four times its text, which is kept too, and the event itself.
RECORD_TIMES, EVENT_BYTES = 5, 500


class SharedReads:
    def __init__(
        self,
        database: Database,
        *,
        max_events: int = MAX_EVENTS,
        max_age_s: float = MAX_AGE_S,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        self._database = database
        self._max_events, self._max_age_s = max_events, max_age_s
        self._read: SizedCache[tuple[Events, float]] = SizedCache(cache_bytes)
        self._fork_version = 0  # of the index when the newest removal was read
        self.orphaned = OrphanedEvents(database)

    def read_next(self, position: Position, types: Collection[str], known_version: int) -> Events:
        """Return the same as block_events.read_next(), perhaps from memory, but nothing that was
        read of an older index: a reader that has come back to the parent of a removed block would
        be sent that block again, and its removal, in a circle."""
        key = (position, types)
        cached = self._read.get(key)
        if cached is not None:
            events, read_at = cached
            oldest = max(known_version, self._fork_version)
            if events.version >= oldest and time.monotonic() - read_at < self._max_age_s:
                return events
        events = read_next(
            self._database, position, types, self.orphaned, known_version, self._max_events
        )
        if events.position != position and not (events.is_newest or events.is_ahead):
            self._read.store(key, (events, time.monotonic()), _bytes(events))
        self.note_fork(position, events)
        return events

    def note_fork(self, position: Position, events: Events) -> None:
        """Note what was read at a position: after a removal nothing that was read before is sent,
        as its block may have been removed as well."""
        if events.position < position:
            self._fork_version = max(self._fork_version, events.version)


def _bytes(events: Events) -> int:
    return EVENT_BYTES + sum(EVENT_BYTES + RECORD_TIMES * len(e.json) for e in events.events)
