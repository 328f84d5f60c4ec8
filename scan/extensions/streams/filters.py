"""Filters of streams: the types, addresses, tokens and topics of the events that one sends."""

from collections.abc import Mapping
from typing import NamedTuple

from scan import parameters
from scan.errors import InvalidParameter
from scan.extensions.logs.queries import TOPIC_NAMES
from scan.extensions.streams.block_events import TYPES, BlockEvent
from scan.hex import to_hex

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


def parties(event: BlockEvent) -> list[str]:
    """Return the event's addresses that filters are compared with; a head has none."""
    return [event.record[field] for field in PARTIES.get(event.type, ())]


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
            raise InvalidParameter(
                f"{name} has no effect on these types; it is for {', '.join(narrowed)}.",
                field="types",
            )
    return stream_filter


def _addresses(arguments: Mapping[str, str], name: str) -> frozenset[str]:
    if name not in arguments:
        return frozenset()
    texts = arguments[name].split(",")
    if len(texts) > MAX_ADDRESSES:
        raise InvalidParameter(f"{name} takes at most {MAX_ADDRESSES} addresses.", field=name)
    return frozenset(to_hex(parameters.address(text, name)) for text in texts)
