"""Events of an owner's approvals: from the index of stored logs, or from the node within bounds."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.cached_values import SizedCache
from scan.errors import UpstreamFailed
from scan.ethereum import client, served_chain
from scan.ethereum.request_node import NodeSession, NodeTimedOut
from scan.extensions.logs import unstored_logs
from scan.extensions.logs.log_filter import LogFilter
from scan.extensions.logs.unstored_logs import BlockSpan
from scan.hex import to_hex
from scan.queries.blocks import hash_at
from scan.queries.reader import KeptFrom, Reader

PERMIT2 = bytes.fromhex("000000000022d473030f116ddee9f6b43ac78ba3")
# In the order of number_approval_topic() of the schema.
APPROVAL_TOPICS = tuple(
    bytes.fromhex(topic)
    for topic in (
        "8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925",
        "17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31",
        "da9fa7c1b00402c17d0161b249b1ab8bbec047c5a52207b9c112deffd817036b",
        "c6a377bfc4eb120024a8ac08eef205be16b817020812c73223e81d1bdb9708ec",
        "89b1add15eff56b3dfe299ad94e01f2b52fbcb80ae1a3baea6ae8c04cb2b98a4",
        "ceb576d9f15e4e200fdb5096d64d5dfd667e16def20c1eefd14256d8e3faa267",
    )
)
_APPROVAL, _APPROVAL_FOR_ALL, _PERMIT2_APPROVAL, _PERMIT2_PERMIT, _PERMIT2_LOCKDOWN = range(5)
_OPERATOR_SET = 5  # ERC-6909
ALLOWANCE, ITEM, OPERATOR, OF_PERMIT2 = "allowance", "item", "operator", "permit2"
MOST_EVENTS = 20_000  # for one request
MOST_TRANSACTIONS = 10_000  # of the owner, whose events are read beyond these
FEW_EVENTS = 2_000  # they take the processor 20 ms
NODE_S, BATCH_S = 4.0, 2.0  # of a request's time at the node for events; of one range of blocks
DIVISOR = 8  # a range that the node refuses, or answers too late, is divided by this
CACHE_BYTES, EVENT_BYTES = 16 * 1024 * 1024, 500
WORD = 32
Row = Sequence[object]  # of a stored event
NOT_GIVEN = (
    "The node does not give the events of this owner's approvals. An index with SCAN_LOGS=standard"
    " or all has them."
)


class ApprovalBounds:
    """The bound of one request."""

    events = MOST_EVENTS


class Event(NamedTuple):
    """An approval by the owner. `amount` is 0 for none, and 1 for an item or all of them; `expires`
    is in Unix seconds, None where it does not."""

    block_number: int
    log_index: int
    transaction_index: int
    kind: str
    token: bytes
    spender: bytes
    token_id: int | None
    amount: int
    expires: int | None = None
    is_set: bool = False  # by setOperator() of ERC-6909, not by setApprovalForAll()

    @property
    def right(self) -> tuple[object, ...]:
        """What the owner's next event of the same value replaces."""
        return self.kind, self.token, self.spender if self.token_id is None else self.token_id


class Events(NamedTuple):
    """An owner's events from the newest, all from the block `since` on, as of the block `head`,
    whose time is in Unix seconds. `source` is index, node, or both. `kept_from` is where rows
    of the owner or the token begin, or where the node gives some, all lists."""

    events: Sequence[Event]
    head: served_chain.BlockId
    head_s: int
    since: int
    source: str
    kept_from: KeptFrom | None


class OfNode(NamedTuple):
    """Events that a node gave, from the newest: of the blocks from `since` to `head`."""

    events: Sequence[Event]
    since: int
    head: served_chain.BlockId


class NodeEvents(SizedCache[OfNode]):
    """Events that a node gave, by owner and topics. One owner's may take most of the room: to read
    20,000 anew takes seconds."""

    def __init__(self) -> None:
        super().__init__(CACHE_BYTES, least_entries=1)


class OwnerFilter(LogFilter):
    """Logs with any of the first topics `topics[1:]` whose second one is the owner, topics[0]."""

    @property
    def is_conjunction(self) -> bool:
        return True

    @property
    def values(self) -> Sequence[bytes]:
        return [self.topics[0] or b""]

    def matches(self, address: bytes, topics: Sequence[bytes]) -> bool:
        return len(topics) > 1 and topics[0] in self.topics[1:] and topics[1] == self.topics[0]

    def for_node(self, first: int, last: int) -> dict[str, object]:
        owner, *firsts = [to_hex(topic or b"") for topic in self.topics]
        return {"fromBlock": hex(first), "toBlock": hex(last), "topics": [firsts, owner]}


def read(reader: Reader, owner: bytes, token: bytes | None) -> Events | None:
    """Return the events of an owner, of one token where it is given; None before the first block.
    Before `since` they have those of the newest transactions that the owner sent, as far as stored,
    which no other contract's events push out.

    Raises Unavailable and UpstreamFailed where the node is needed and does not give them.
    """
    emitters = None if token is None else [token, PERMIT2]
    most = reader.sources.get(ApprovalBounds).events
    kept_from = reader.kept_from_of(owner, *filter(None, [token]))
    kept_block = kept_from.number if kept_from else 0
    of_owner: dict[str, Any] = {"owner": owner, "emitters": emitters, "kept_block": kept_block}
    number, block_hash, head_s, stored, ids, rows = reader.row(
        "queries/approvals_list_events",
        is_unbounded=True,
        topics=list(APPROVAL_TOPICS),
        limit=most + 1,
        **of_owner,
    )
    if number is None:
        return None
    head, first = served_chain.BlockId(number, bytes(block_hash)), reader.first_block
    # With all logs stored, one without a number was never emitted.
    default = -1 if stored == "all" else 1
    missing = [t for t in APPROVAL_TOPICS if stored == "none" or ids.get(t.hex(), default) >= 0]
    kept_from = reader.kept_from if missing else kept_from
    first = max(first, kept_from.number if kept_from else 0)
    stored_rows = [row for row in orjson.loads(rows) if int(row[0]) >= first]
    events, since = _stored(reader, of_owner, stored_rows, first)
    if missing:
        of_node = _node_events(reader, owner, missing, head, first)
        more = (e for e in of_node.events if token in (None, e.token) and e.block_number >= first)
        events = sorted([*events, *more], reverse=True)
        since = max(since, of_node.since)
    every = len(missing) == len(APPROVAL_TOPICS)
    source = "node" if every else "both" if missing else "index"
    return Events(events, head, head_s, since, source, kept_from)


def _stored(
    reader: Reader, of_owner: Mapping[str, Any], rows: Sequence[Row], first: int
) -> tuple[list[Event], int]:
    """Return events, and the block from which on all are there: of that of the first event that was
    left out not all may be."""
    since, own, most = first, [], reader.sources.get(ApprovalBounds).events
    if len(rows) > FEW_EVENTS:
        reader.hold_processor()
    if len(rows) > most:
        since = int(str(rows[most][0])) + 1
        [text] = reader.row(
            "queries/approvals_list_own_events",
            is_unbounded=True,
            before=since,
            transactions=MOST_TRANSACTIONS,
            limit=most,
            **of_owner,
        )
        own = orjson.loads(text)
    # Some may be in both.
    events = {_stored_event(row): None for row in [*rows[:most], *own]}
    return [event for event in events if event is not None], since


def _stored_event(row: Row) -> Event | None:
    block, index, transaction, topic_id, emitter, topics, data = row
    texts = (bytes.fromhex(str(text)[2:]) for text in (emitter, topics, data))
    at = (int(str(block)), int(str(index)), int(str(transaction)))
    return decode(at, -int(str(topic_id)) - 1, *texts)


def _node_events(
    reader: Reader, owner: bytes, topics: Sequence[bytes], head: served_chain.BlockId, first: int
) -> OfNode:
    """Return events, read in ranges of blocks as large as the node answers, as far back as time and
    number allow; of blocks before an earlier head, which is still in the chain, those read then."""
    cache, key = reader.sources.get(NodeEvents), (owner, tuple(topics))
    cached = cache.get(key)
    if cached is not None and cached.head == head:
        return cached
    # A cached head is of use where it is in the chain before this one.
    at = head.number if cached is None else cached.head.number
    if cached is None or at >= head.number or hash_at(reader, at) != cached.head.hash:
        cached = OfNode((), head.number + 1, head)
    node, most_events = reader.node.within(NODE_S), reader.sources.get(ApprovalBounds).events
    log_filter = OwnerFilter((), (owner.rjust(WORD, b"\0"), *topics), 0)
    newer_span = BlockSpan(cached.head.number + 1, head.number)
    events, since = _read_back(reader, node, log_filter, newer_span, most_events)
    if since == cached.head.number + 1:
        events += cached.events
        older_span = BlockSpan(first, cached.since - 1)
        most = most_events - len(events)
        older, since = _read_back(reader, node, log_filter, older_span, most)
        events += older
    if since > head.number:
        raise unstored_logs.TooManyLogs(NOT_GIVEN)
    if hash_at(reader, head.number) != head.hash:  # the newest may be of stored blocks
        raise UpstreamFailed(unstored_logs.ANOTHER_CHAIN)
    read = OfNode(events, since, head)
    cache.store(key, read, EVENT_BYTES * (1 + len(events)))
    return read


def _read_back(
    reader: Reader, node: NodeSession, log_filter: LogFilter, span: BlockSpan, most: int
) -> tuple[list[Event], int]:
    """Return events of a span from the newest, and the block from which on all are there: that
    after the span where none were read. The newest blocks are read as they are stored: a node
    behind a balancer may be some blocks behind the one that gave the newest."""
    logs: list[unstored_logs.UnstoredLog] = []
    last, count = span.last, span.last - span.first + 1
    while last >= span.first and len(logs) < most and node.left_s() > 0:
        newest = unstored_logs.MOST_STORED_AT_ONCE if last == span.last else count
        part = BlockSpan(max(span.first, last - min(count, newest) + 1), last)
        numbers, session = range(part.first, part.last + 1), node.within(BATCH_S)
        try:
            if last == span.last:
                read, _ = unstored_logs.read_blocks(reader, session, log_filter, numbers)
            else:
                read = unstored_logs.read_spans(reader, session, log_filter, [part])
        except (client.RpcError, client.AnswerTooLarge, NodeTimedOut):
            if count == 1:
                break
            count = max(1, (part.last - part.first + 1) // DIVISOR)
            continue
        logs += sorted(read, reverse=True)
        last = part.first - 1
    events = []
    for log in logs:
        at = (log.block_number, log.log_index, log.transaction_index)
        topic, *others = log.topics
        event = decode(at, APPROVAL_TOPICS.index(topic), log.address, b"".join(others), log.data)
        if event is not None:
            events.append(event)
    return events, last + 1


def decode(
    at: tuple[int, int, int], topic: int, emitter: bytes, topics: bytes, data: bytes
) -> Event | None:
    """Return the event of a log, by its first topic's place in APPROVAL_TOPICS, its other topics
    and the beginning of its data; None where these are not of an approval."""
    words = [topics[n : n + WORD] for n in range(WORD, len(topics), WORD)]  # without the owner
    values = [data[n : n + WORD] for n in range(0, len(data) // WORD * WORD, WORD)]
    if topics[:12].strip(b"\0"):
        return None
    if topic == _APPROVAL and len(words) == 2:
        amount = int(any(words[0][12:]))
        return Event(*at, ITEM, emitter, words[0][12:], int.from_bytes(words[1]), amount)
    if topic in (_APPROVAL, _APPROVAL_FOR_ALL, _OPERATOR_SET) and len(words) == 1 and values:
        amount = int.from_bytes(values[0])
        kind = ALLOWANCE if topic == _APPROVAL else OPERATOR
        amount = amount if topic == _APPROVAL else int(amount > 0)
        is_set = topic == _OPERATOR_SET
        return Event(*at, kind, emitter, words[0][12:], None, amount, is_set=is_set)
    if emitter != PERMIT2 or topic <= _APPROVAL_FOR_ALL or len(values) < 2:
        return None
    if topic == _PERMIT2_LOCKDOWN:
        return Event(*at, OF_PERMIT2, values[0][12:], values[1][12:], None, 0, 0)
    if len(words) != 2:
        return None
    amount, expires = (int.from_bytes(value) for value in values[:2])
    return Event(*at, OF_PERMIT2, words[0][12:], words[1][12:], None, amount, expires)
