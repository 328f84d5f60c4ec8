"""Filters of logs: emitters, and topics joined by `and` or `or`. Pure."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scan.ethereum.blocks import MAX_TOPICS
from scan.hex import to_hex

_COMBINATIONS = 2**MAX_TOPICS


class LogFilter(NamedTuple):
    """A filter of logs, of any emitter where there are no addresses. `accepted` has a bit for each
    combination of matching topics: bit 5 is set where a log matches by topic0 and topic2 alone.
    has_topics() of sql/schema reads it, too."""

    addresses: tuple[bytes, ...]
    topics: tuple[bytes | None, ...]
    accepted: int

    @property
    def is_conjunction(self) -> bool:
        return self.accepted == _all_of(self.topics)

    @property
    def first_topic(self) -> bytes | None:
        """The first topic, where every matching log must have it."""
        return self.topics[0] if self.is_conjunction else None

    @property
    def values(self) -> Sequence[bytes]:
        """The address and the topics that every matching log has."""
        topics = self.topics if self.is_conjunction else ()
        address = self.addresses if len(self.addresses) == 1 else ()
        return [value for value in (*address, *topics) if value is not None]

    def matches(self, address: bytes, topics: Sequence[bytes]) -> bool:
        if self.addresses and address not in self.addresses:
            return False
        pairs = enumerate(zip(self.topics, topics, strict=False))
        combination = sum(1 << index for index, (expected, topic) in pairs if expected == topic)
        return bool(self.accepted >> combination & 1)

    def for_node(self, first: int, last: int) -> dict[str, object]:
        """Return the parameters of eth_getLogs for a range of blocks. They cannot express `or`:
        then they have no topics."""
        parameters: dict[str, object] = {"fromBlock": hex(first), "toBlock": hex(last)}
        if self.addresses:
            parameters["address"] = [*map(to_hex, self.addresses)]
        if self.is_conjunction and any(self.topics):
            # A None at the end would require that a log has this many topics.
            last_topic = max(index for index, topic in enumerate(self.topics) if topic)
            topics = self.topics[: last_topic + 1]
            parameters["topics"] = [None if topic is None else to_hex(topic) for topic in topics]
        return parameters


def having_all(address: bytes | None, topics: Sequence[bytes | None]) -> LogFilter:
    """Return the filter for logs with every given topic, None for any, at its position."""
    return LogFilter(_only(address), tuple(topics), _all_of(topics))


def having(
    address: bytes | None, topics: Sequence[bytes | None], joined: Iterable[tuple[int, bool]]
) -> LogFilter:
    """Return the filter for topics joined by `and` or `or`.

    `joined` has the position of each topic, with whether `and` joins it to those before it. There
    is no precedence: `a or b and c` is `(a or b) and c`.
    """
    conditions = list(joined)
    accepted = 0
    for combination in range(_COMBINATIONS):
        holds = True
        for position, (index, is_and) in enumerate(conditions):
            matched = bool(combination >> index & 1)
            holds = matched if position == 0 else holds and matched if is_and else holds or matched
        accepted |= holds << combination
    return LogFilter(_only(address), tuple(topics), accepted)


def _only(address: bytes | None) -> tuple[bytes, ...]:
    return () if address is None else (address,)


def _all_of(topics: Sequence[bytes | None]) -> int:
    mask = sum(1 << index for index, topic in enumerate(topics) if topic is not None)
    return sum(1 << bits for bits in range(_COMBINATIONS) if bits & mask == mask)
