"""Logs of followed contracts decoded once, when they are stored: the rows of their views.

Whatever stores a log queues it (sql/schema/chain_tables.sql). The indexer decodes those of new
blocks in their transaction, within one DecodingBudget; those that are left, and logs that another
form changes, are decoded beside it, the newest first, each batch in a short transaction.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice, repeat
from typing import NamedTuple

import orjson

from scan.contracts.abi_decoding import DecodingBudget, Entry
from scan.database.connection import Database
from scan.database.transaction import Transaction, copy_lines, line
from scan.ethereum.blocks import MAX_TOPICS
from scan.extensions.decoding import decoding
from scan.extensions.events import queries
from scan.extensions.events.event_tables import clean, entry_of, key_of
from scan.parameters import BIGINT_MAX

MOST_LOGS, MOST_BYTES = 20_000, 4 * 1024 * 1024  # of a batch; and of their data
KEPT_FORMS = 1000  # views whose forms are kept as they are read
KEYS = ("key1", "key2", "key3", "key4")
COLUMNS = (
    *("ordinal", "block_number", "transaction_index", "event", "form"),
    *(*KEYS, "args", "exact", "alternatives", "emitter"),
)


class QueuedLog(NamedTuple):
    """A log that is to be decoded; `queued_by` is another text once it has changed."""

    ordinal: int
    queued_by: str
    block_number: int
    transaction_index: int
    address: bytes
    topics: Sequence[bytes]
    data: bytes


class LogForm(NamedTuple):
    """A form of a view, see EventForm. `event` is the view's id; `first` and `last` are blocks and
    transactions in them."""

    event: int
    number: int
    topic0: bytes | None
    first: tuple[int, int]
    last: tuple[int, int]
    entry: Entry
    is_of_children: bool

    def has_topics(self, count: int) -> bool:
        return sum(self.entry.indexed) + (self.topic0 is not None) == count


class DecodedEvent(NamedTuple):
    """A log as the event of a form; `args` are JSON, None where it is malformed. Where it may be of
    several forms, those in which these differ are None, and `alternatives` has the args of each."""

    form: LogForm
    keys: Sequence[bytes | None]
    args: Sequence[object] | None
    alternatives: Sequence[Sequence[object]] = ()


def decode(log: QueuedLog, forms: Sequence[LogForm]) -> DecodedEvent | None:
    """Decode a log by the forms of its contract; None where it is of no event of these.

    One that has an event's first topic is one row: of the form of its time with as many topics, or
    malformed. Where several have, those that decode it count, and what these say alike."""
    topics, topic0 = log.topics, log.topics[0] if log.topics else None
    is_named = topic0 is not None and any(form.topic0 == topic0 for form in forms)
    of_time = [
        form
        for form in forms
        if form.topic0 == (topic0 if is_named else None)
        and form.first <= (log.block_number, log.transaction_index) <= form.last
    ]
    fitting = [form for form in of_time if form.has_topics(len(topics))]
    decode_by = decoding.named_event if is_named else decoding.anonymous_event
    event = decode_by(topics, log.data, [form.entry for form in fitting])
    if event is None:
        of_log = [*fitting, *of_time] if is_named else []
        return _row(of_log[0], topics, None) if of_log else None
    first = event.readings[0]
    shape = first.signature, tuple(argument.indexed for argument in first.arguments)
    form = next(f for f in fitting if (f.entry.signature, f.entry.indexed) == shape)
    row = _row(form, topics, [argument.value for argument in event.arguments])
    alternatives = [[argument.value for argument in of] for of in event.alternatives]
    return row._replace(alternatives=alternatives)


def _row(form: LogForm, topics: Sequence[bytes], args: Sequence[object] | None) -> DecodedEvent:
    types = [
        t for t, is_topic in zip(form.entry.types, form.entry.indexed, strict=True) if is_topic
    ]
    pairs = zip(types, topics[form.topic0 is not None :], strict=False)
    keys = [key_of(abi_type, topic) for abi_type, topic in pairs]
    return DecodedEvent(form, keys, args)


Rows = list[tuple[QueuedLog, DecodedEvent | None]]


def decode_new(tx: Transaction, block_from: int, block_to: int) -> None:
    """Decode the logs of blocks that this transaction writes, as far as the budget allows."""
    store(tx, decoded(tx, block_from, block_to))


def decode_queued(database: Database) -> int:
    """Decode a batch of the logs that are to be decoded; return how many it had."""
    if rows := decoded(database):
        with database.transaction() as tx:
            tx.execute("indexer/writes_lock")
            store(tx, rows)
            tx.execute("indexer/chain_notify")
    return len(rows)


def decoded(
    database: queries.Rows,
    block_from: int = 0,
    block_to: int = BIGINT_MAX,
    budget: DecodingBudget | None = None,
) -> Rows:
    """Return the newest logs that are to be decoded in a range of blocks with what they are: as
    many as the budget allows, and at least one."""
    logs = _read(database, block_from, block_to)
    forms = _forms(database, logs) if logs else {}
    budget = budget or DecodingBudget()
    rows: Rows = []
    for log in logs:
        if not budget.allows(len(log.data)) and rows:
            break
        rows.append((log, decode(log, forms.get(log.address, ()))))
    return rows


def _read(database: queries.Rows, block_from: int, block_to: int) -> list[QueuedLog]:
    rows = database.rows(
        "events/undecoded_list",
        block_from=block_from,
        block_to=block_to,
        most=MOST_LOGS,
        most_bytes=MOST_BYTES,
    )
    logs = []
    for ordinal, queued_by, block_number, index, address, *topics, log_data in rows:
        of_log = [bytes(topic) for topic in topics if topic is not None]
        places = ordinal, queued_by, block_number, index
        logs.append(QueuedLog(*places, bytes(address), of_log, bytes(log_data)))
    return logs


def _forms(database: queries.Rows, logs: Sequence[QueuedLog]) -> Mapping[bytes, Sequence[LogForm]]:
    """Return the forms that logs may be of, by their contracts."""
    forms: defaultdict[bytes, list[LogForm]] = defaultdict(list)
    for addresses, event, text, are_children in database.rows(
        "events/forms_list",
        addresses=sorted({log.address for log in logs}),
        topics=sorted({log.topics[0].hex() for log in logs if log.topics}),
    ):
        of_view = read_forms(event, text, are_children)
        for address in addresses:
            forms[bytes(address)] += of_view
    return forms


@lru_cache(maxsize=KEPT_FORMS)
def read_forms(event: int, text: str, are_children: bool = False) -> Sequence[LogForm]:
    """Return the forms of a view, of its id and its forms as view_forms() has them."""
    return [
        LogForm(
            event,
            form["number"],
            None if form["anonymous"] else bytes.fromhex(form["topic0"]),
            (form["first"], form.get("firstIndex", 0)),
            (
                BIGINT_MAX if form["last"] is None else form["last"],
                form.get("lastIndex", BIGINT_MAX),
            ),
            entry_of(form),
            are_children,
        )
        for form in orjson.loads(text)
    ]


def store(tx: Transaction, rows: Rows) -> None:
    """Store what logs were decoded to, but those that are others by now."""
    if not rows:
        return
    taken = tx.rows(
        "events/decoded_take",
        ordinals=[log.ordinal for log, _ in rows],
        queued_by=[log.queued_by for log, _ in rows],
    )
    as_read = {ordinal for (ordinal,) in taken}
    # The oldest first, as indexes stay smaller so.
    kept = ((log, of) for log, of in reversed(rows) if log.ordinal in as_read)
    lines = (_line(log, of) for log, of in kept if of is not None)
    copy_lines(tx, "decoded_events", COLUMNS, lines)


def _line(log: QueuedLog, event: DecodedEvent) -> str:
    """Return the line of COPY of a row of decoded_events."""
    args = exact = None
    if event.args is not None:
        args = orjson.dumps(event.args).decode()
        if "\\u0000" in args:
            args = orjson.dumps(clean(event.args)).decode()
            texts = (orjson.dumps(value).decode() for value in event.args)
            quoted = (text.replace("\\", r"\\").replace('"', r"\"") for text in texts)
            exact = "{" + ",".join(f'"{text}"' for text in quoted) + "}"
    keys = islice(chain(event.keys, repeat(None)), MAX_TOPICS)
    places = log.ordinal, log.block_number, log.transaction_index
    alternatives = orjson.dumps(event.alternatives).decode() if event.alternatives else None
    of_form = event.form.event, event.form.number
    emitter = log.address if event.form.is_of_children else None
    return line((*places, *of_form, *keys, args, exact, alternatives, emitter))
