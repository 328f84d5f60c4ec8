"""Blocks as msgspec read them, decoded column by column: what decode_block() and block_columns.py
make of them one by one. Pure.

Raises Surprising for whatever is not as nearly all blocks are, also where it is malformed: the
caller then decodes fewer blocks at once, and a single one by decode_block().
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy
import pyarrow
from msgspec import UNSET
from msgspec.structs import astuple

from scan.bulk import hex_columns
from scan.bulk.block_columns import (
    BLOB_GAS,
    BlockCounts,
    Rows,
    block_row,
    make_table_of,
    rows_table,
    swap_row,
    transfer_rows,
)
from scan.bulk.hex_columns import Bytes, Mask, Numbers, Surprising, Texts
from scan.bulk.typed_blocks import (
    BlockJson,
    BlockWithReceipts,
    LogJson,
    ReceiptJson,
    TransactionJson,
)
from scan.ethereum.blocks import (
    BLOCK_COLUMNS,
    MAX_TOPICS,
    PLAIN_TRANSFER_GAS,
    EventLog,
    MalformedBlock,
    Withdrawal,
    decode_withdrawals,
)
from scan.ethereum.events import (
    DEPOSIT,
    SWAP_PANCAKE_V3,
    SWAP_V2,
    SWAP_V3,
    TRANSFER,
    TRANSFER_BATCH,
    TRANSFER_SINGLE,
    WITHDRAWAL,
    WRAPPING,
    TransferEvent,
    TransferShape,
    duplicate_wraps,
    transfer_event,
)
from scan.exports.columns import HASHES, UINT256_BYTES, limb_names
from scan.hex import BadHex, data
from scan.indexer.log_selection import LogSelection

NO_ADDRESS, ZERO = "0x" + "00" * 20, "0x0"
METHOD_BYTES = 4
MAX_LOG_INDEX = 2**31
_DIRT = 12  # bytes before an address in a word

Tables = dict[str, pyarrow.Table]


class Decoded(NamedTuple):
    """Rows of consecutive blocks, by kind; of a kind without rows there is no table."""

    tables: Tables
    links: list[tuple[bytes, bytes]]  # hash and parent hash of each block


class _Transactions(NamedTuple):
    """Of some blocks, with what is needed of them besides their table."""

    table: pyarrow.Table
    block_numbers: Numbers
    indexes: Numbers
    from_address: Bytes
    called: Bytes  # addresses that ran code
    called_in: Numbers  # blocks
    created: Bytes
    created_in: Numbers
    prices: list[int]
    gas: list[int]
    runs_code: frozenset[int]  # blocks
    blob_fees: dict[int, int]  # of transactions with blobs, by their place


class _Logs(NamedTuple):
    """In the order of the chain; a log has topics from `first_topic` on."""

    block_numbers: Numbers
    transaction_indexes: Numbers
    indexes: Numbers
    addresses: Bytes
    topics: Bytes
    topic_counts: Numbers
    first_topic: Numbers
    data: Texts
    makers: Bytes

    def topic(self, rows: Numbers, number: int) -> Bytes:
        return self.topics[self.first_topic[rows] + number]

    def event_log(self, row: int) -> EventLog:
        first, count = self.first_topic[row], self.topic_counts[row]
        return EventLog(
            int(self.transaction_indexes[row]),
            int(self.indexes[row]),
            self.addresses[row].tobytes(),
            tuple([self.topics[n].tobytes() for n in range(first, first + count)]),
            self.data.value(row),
        )


def decode_columns(
    blocks: Sequence[BlockWithReceipts], first: int, selection: LogSelection
) -> Decoded:
    """Of blocks from `first` on, none of which has traces."""
    headers = [_header(block, number) for number, (block, _) in enumerate(blocks, start=first)]
    counts = [len(block.transactions) for block, _ in blocks]
    if counts != [len(receipts) for _, receipts in blocks]:
        raise Surprising
    receipts = list(chain.from_iterable(receipts for _, receipts in blocks))
    transactions = _transactions(blocks, receipts, counts, first)
    logs = _logs(receipts, transactions)
    tables = {"transactions": transactions.table, **_sights(transactions, logs)}
    is_stored = _is_stored(logs, selection)
    if is_stored.any():
        tables["logs"] = _log_table(logs, is_stored)
    tables |= _event_tables(logs)
    tables |= _block_tables(
        blocks,
        headers,
        counts,
        transactions,
        numpy.bincount(logs.block_numbers[is_stored] - first, minlength=len(blocks)).tolist(),
    )
    return Decoded(tables, [(header["hash"], header["parent_hash"]) for header in headers])


def _header(block: BlockJson, number: int) -> dict[str, Any]:
    try:
        header = {
            name: column.read(getattr(block, _FIELDS[column.json_name], None))
            for name, column in BLOCK_COLUMNS.items()
            if not (name == "base_fee_per_gas" and block.base_fee_per_gas is UNSET)
        }
    except BadHex:
        raise Surprising from None
    if header["number"] != number:
        raise Surprising
    return {"base_fee_per_gas": None, **header}


_FIELDS = dict(zip(BlockJson.__struct_encode_fields__, BlockJson.__struct_fields__, strict=True))


def _columns(kind: type, records: Sequence[Any]) -> dict[str, Sequence[Any]]:
    """The values of each field; to take them all at once is faster than field by field."""
    names = kind.__struct_fields__  # type: ignore[attr-defined]
    values = zip(*map(astuple, records), strict=True) if records else ((),) * len(names)
    return dict(zip(names, values, strict=True))


def _transactions(
    blocks: Sequence[BlockWithReceipts],
    receipts: Sequence[ReceiptJson],
    counts: list[int],
    first: int,
) -> _Transactions:
    sent = list(chain.from_iterable(block.transactions for block, _ in blocks))
    t, r = _columns(TransactionJson, sent), _columns(ReceiptJson, receipts)
    _require_links(blocks, counts, t, r)
    total = len(sent)
    numbers: Numbers = numpy.repeat(numpy.arange(first, first + len(blocks)), counts)
    ends = numpy.cumsum(counts, dtype=numpy.int64)
    indexes = numpy.arange(total) - numpy.repeat(ends - counts, counts)

    status = _statuses(blocks, counts, r["status"])
    to_texts, lacks_to = hex_columns.optional(t["to"], NO_ADDRESS)
    to_address = hex_columns.fixed(to_texts, 20)
    created, is_created = _created(lacks_to, status, r["contract_address"])
    kinds = hex_columns.quantities(
        [a or b or ZERO for a, b in zip(t["type"], r["type"], strict=True)]
    )
    if kinds.size and kinds[:, :-1].any():
        raise Surprising
    prices = [a or b for a, b in zip(r["effective_gas_price"], t["gas_price"], strict=True)]
    if None in prices:
        raise Surprising
    price, gas = hex_columns.quantities(prices), hex_columns.quantities(r["gas_used"])
    price_numbers, gas_numbers = hex_columns.integers(price), hex_columns.integers(gas)
    method, method_sizes = _methods(t["input"])
    has_method = method_sizes > 0
    plain_gas = numpy.fromiter((g == PLAIN_TRANSFER_GAS for g in gas_numbers), bool, total)
    runs_code = has_method | ~plain_gas
    from_address = hex_columns.fixed(t["from_address"], 20)
    blob_hashes, blob_price = _blobs(t["blob_versioned_hashes"], r["blob_gas_price"])
    columns: dict[str, Any] = {
        "block_number": numbers,
        "transaction_index": indexes,
        "hash": hex_columns.binary(hex_columns.fixed(t["hash"], 32)),
        "from_address": hex_columns.binary(from_address),
        "to_address": hex_columns.binary(to_address, lacks_to),
        "contract_address": hex_columns.binary(created, ~is_created),
        "status": status,
        "type": hex_columns.unsigned(kinds),
        "nonce": _optional_unsigned(t["nonce"]),
        "gas_limit": _optional_unsigned(t["gas"]),
        "max_fee_per_gas": _optional_unsigned(t["max_fee_per_gas"]),
        "max_priority_fee_per_gas": _optional_unsigned(t["max_priority_fee_per_gas"]),
        "max_fee_per_blob_gas": _optional_unsigned(t["max_fee_per_blob_gas"]),
        "cumulative_gas_used": _optional_unsigned(r["cumulative_gas_used"]),
        "method": hex_columns.leading(method, method_sizes, ~has_method),
        "blob_versioned_hashes": blob_hashes,
        "blob_gas_price": _optional_unsigned(blob_price),
    }
    blob_fees = {
        place: BLOB_GAS * len(t["blob_versioned_hashes"][place]) * int(price_text, 16)
        for place, price_text in enumerate(blob_price)
        if price_text is not None
    }
    for name, big_endian in (
        ("value", hex_columns.quantities(t["value"])),
        ("gas_price", price),
        ("gas_used", gas),
        ("fee", _fees(price, gas, price_numbers, gas_numbers, blob_fees)),
    ):
        columns |= zip(limb_names(name), hex_columns.limbs(big_endian), strict=True)
    has_to = runs_code if lacks_to is None else runs_code & ~lacks_to
    return _Transactions(
        table=make_table_of("transactions", columns),
        block_numbers=numbers,
        indexes=indexes,
        from_address=from_address,
        called=to_address[has_to],
        called_in=numbers[has_to],
        created=created[is_created],
        created_in=numbers[is_created],
        prices=price_numbers,
        gas=gas_numbers,
        runs_code=frozenset(numbers[runs_code].tolist()),
        blob_fees=blob_fees,
    )


def _require_links(
    blocks: Sequence[BlockWithReceipts],
    counts: Sequence[int],
    t: dict[str, Sequence[Any]],
    r: dict[str, Sequence[Any]],
) -> None:
    """By text, as nearly all nodes write the same value always."""
    hashes = [block.hash for block, _ in blocks for _ in block.transactions]
    indexes = list(chain.from_iterable(_indexes(count) for count in counts))
    if not (
        list(t["block_hash"]) == list(r["block_hash"]) == hashes
        and list(t["transaction_index"]) == list(r["transaction_index"]) == indexes
        and t["hash"] == r["transaction_hash"]
    ):
        raise Surprising


def _indexes(count: int) -> list[str]:
    while len(_INDEXES) < count:
        _INDEXES.append(hex(len(_INDEXES)))
    return _INDEXES[:count]


_INDEXES: list[str] = []


def _statuses(
    blocks: Sequence[BlockWithReceipts], counts: Sequence[int], statuses: Sequence[str | None]
) -> Mask:
    """Without one before Byzantium, as _status() of scan/ethereum/blocks.py."""
    others = set(statuses) - {"0x1", "0x0"}
    if others - {None}:
        raise Surprising
    if others:
        is_new = [
            block.base_fee_per_gas is not UNSET
            for (block, _), count in zip(blocks, counts, strict=True)
            for _ in range(count)
        ]
        if any(s is None and new for s, new in zip(statuses, is_new, strict=True)):
            raise Surprising
    return numpy.fromiter((status != "0x0" for status in statuses), bool, len(statuses))


def _created(
    lacks_to: Mask | None, status: Mask, addresses: Sequence[str | None]
) -> tuple[Bytes, Mask]:
    created: Bytes = numpy.zeros((len(status), 20), numpy.uint8)
    is_created: Mask = numpy.zeros(len(status), bool)
    if lacks_to is not None:
        rows = [
            n for n in numpy.flatnonzero(lacks_to & status).tolist() if addresses[n] is not None
        ]
        created[rows] = hex_columns.fixed([str(addresses[n]) for n in rows], 20)
        is_created[rows] = True
    return created, is_created


def _methods(inputs: Sequence[str | None]) -> tuple[Bytes, Numbers]:
    """The first bytes of each input, at most four, and how many they are."""
    digits = 2 + 2 * METHOD_BYTES
    texts = [(text or "0x")[:digits] for text in inputs]
    lengths = numpy.fromiter(map(len, texts), numpy.int64, len(texts))
    if (lengths % 2).any() or (lengths < 2).any():
        raise Surprising
    padded = [text if len(text) == digits else text.ljust(digits, "0") for text in texts]
    return hex_columns.fixed(padded, METHOD_BYTES), lengths // 2 - 1


def _optional_unsigned(texts: Sequence[str | None]) -> pyarrow.Array:
    present, mask = hex_columns.optional(texts, ZERO)
    if mask is not None and mask.all():
        return pyarrow.nulls(len(texts), pyarrow.binary())
    return hex_columns.unsigned(hex_columns.quantities(present), mask)


def _blobs(
    hashes: Sequence[list[str] | None], prices: Sequence[str | None]
) -> tuple[pyarrow.Array, Sequence[str | None]]:
    """Hashes of blobs, and their price where there are any."""
    if not any(entry is not None for entry in hashes):
        return pyarrow.nulls(len(hashes), HASHES), (None,) * len(hashes)
    try:
        values = [None if entry is None else [data(h, 32) for h in entry] for entry in hashes]
    except BadHex:
        raise Surprising from None
    paid = [None if e is None else price for e, price in zip(hashes, prices, strict=True)]
    return pyarrow.array(values, HASHES), paid


def _fees(
    price: Bytes,
    gas: Bytes,
    price_numbers: list[int],
    gas_numbers: list[int],
    blob_fees: dict[int, int],
) -> Bytes:
    most = max(price_numbers, default=0) * max(gas_numbers, default=0)
    if most < 2**64 and not blob_fees:
        fees = hex_columns.limbs(price)[0] * hex_columns.limbs(gas)[0]
        return fees.astype(">u8").view(numpy.uint8).reshape(-1, 8)
    numbers = [p * g for p, g in zip(price_numbers, gas_numbers, strict=True)]
    for place, fee in blob_fees.items():
        numbers[place] += fee
    if max(numbers) >= 2**256:
        raise Surprising
    content = b"".join([number.to_bytes(UINT256_BYTES) for number in numbers])
    return numpy.frombuffer(content, numpy.uint8).reshape(-1, UINT256_BYTES)


def _logs(receipts: Sequence[ReceiptJson], transactions: _Transactions) -> _Logs:
    counts = [len(receipt.logs) for receipt in receipts]
    logs = list(chain.from_iterable(receipt.logs for receipt in receipts))
    fields = _columns(LogJson, logs)
    positions: Numbers = numpy.repeat(numpy.arange(len(receipts)), counts)
    block_numbers = transactions.block_numbers[positions]
    index_bytes = hex_columns.quantities(fields["log_index"])
    indexes = hex_columns.limbs(index_bytes)[0].astype(numpy.int64)
    if index_bytes.shape[1] > 8 or (indexes >= MAX_LOG_INDEX).any() or (indexes < 0).any():
        raise Surprising
    if ((numpy.diff(indexes) <= 0) & (numpy.diff(block_numbers) == 0)).any():
        raise Surprising
    topic_counts = numpy.fromiter(map(len, fields["topics"]), numpy.int64, len(logs))
    if (topic_counts > MAX_TOPICS).any():
        raise Surprising
    return _Logs(
        block_numbers,
        transactions.indexes[positions],
        indexes,
        hex_columns.fixed(fields["address"], 20),
        hex_columns.fixed(list(chain.from_iterable(fields["topics"])), 32),
        topic_counts,
        numpy.cumsum(topic_counts) - topic_counts,
        Texts(fields["data"]),
        transactions.from_address[positions],
    )


def _sights(transactions: _Transactions, logs: _Logs) -> Tables:
    """Repeated as often as there are; RangeTables makes them distinct."""
    addresses = numpy.concatenate([transactions.created, transactions.called, logs.addresses])
    blocks = [transactions.created_in, transactions.called_in, logs.block_numbers]
    is_created = numpy.arange(len(addresses)) < len(transactions.created)
    return {
        "log_emitters": make_table_of(
            "log_emitters",
            {
                "address": hex_columns.binary(logs.addresses),
                "block_number": logs.block_numbers,
            },
        ),
        "code_sights": make_table_of(
            "code_sights",
            {
                "block_number": numpy.concatenate(blocks),
                "address": hex_columns.binary(addresses),
                "is_created": is_created,
                "is_first": numpy.zeros(len(addresses), bool),
            },
        ),
    }


def _is_stored(logs: _Logs, selection: LogSelection) -> Mask:
    count = len(logs.indexes)
    if selection.stored != "standard":
        return numpy.full(count, selection.stored == "all")
    is_stored: Mask = numpy.zeros(count, bool)
    with_topics = numpy.flatnonzero(logs.topic_counts)
    first = logs.topic(with_topics, 0)
    is_stored[with_topics] = [topic.tobytes() in selection.topics for topic in first]
    return is_stored


def _log_table(logs: _Logs, is_stored: Mask) -> pyarrow.Table:
    rows = numpy.flatnonzero(is_stored)
    counts = logs.topic_counts[rows]
    has_topics = counts > 0
    first_topics: Bytes = numpy.zeros((len(rows), 32), numpy.uint8)
    first_topics[has_topics] = logs.topic(rows[has_topics], 0)
    is_other: Mask = numpy.repeat(is_stored, logs.topic_counts)
    is_other[logs.first_topic[rows[has_topics]]] = False
    sizes = 32 * numpy.maximum(counts - 1, 0)
    return make_table_of(
        "logs",
        {
            "block_number": logs.block_numbers[rows],
            "log_index": logs.indexes[rows],
            "transaction_index": logs.transaction_indexes[rows],
            "topic0": hex_columns.binary(first_topics, ~has_topics),
            "address": hex_columns.binary(logs.addresses[rows]),
            "topics": hex_columns.variable(logs.topics[is_other], sizes, len(rows)),
            "data": logs.data.binary(is_stored),
        },
    )


# Forms of events that are decoded in columns: first topic, topics, and bytes of data, or more.
_FORMS = (
    (TransferShape.AMOUNT, TRANSFER, 3, 32, True),
    (TransferShape.ID, TRANSFER, 4, 0, False),
    (TransferShape.WRAP, DEPOSIT, 2, 32, False),
    (TransferShape.UNWRAP, WITHDRAWAL, 2, 32, False),
)
# And those that are decoded one by one.
_OTHER_TRANSFERS = ((TRANSFER, 1), (TRANSFER_SINGLE, 4), (TRANSFER_BATCH, 4))
_SWAPS = ((SWAP_V2, 3), (SWAP_V3, 3), (SWAP_PANCAKE_V3, 3))


def _event_tables(logs: _Logs) -> Tables:
    tables: Tables = {}
    swaps: Rows = []
    for topic, count in _SWAPS:
        for row in _with_topic(logs, topic, count).tolist():
            number, maker = int(logs.block_numbers[row]), logs.makers[row].tobytes()
            swap = swap_row(number, logs.event_log(row), maker)
            swaps += [] if swap is None else [swap]
    if swaps:
        tables["swap_events"] = rows_table("swap_events", sorted(swaps, key=lambda row: row[:2]))
    duplicates = _duplicates(logs)
    transfers = [
        table
        for shape, topic, topics, size, or_more in _FORMS
        if (table := _transfers(logs, shape, topic, topics, size, or_more, duplicates))
    ]
    others: Rows = []
    for topic, count in _OTHER_TRANSFERS:
        for row in _with_topic(logs, topic, count).tolist():
            if (event := transfer_event(logs.event_log(row))) is not None:
                others += transfer_rows(int(logs.block_numbers[row]), event, False)
    if others:
        transfers.append(rows_table("transfer_events", others))
    if transfers:
        table = pyarrow.concat_tables(transfers)
        if others or len(transfers) > 1:
            order = ("block_number", "log_index", "batch_index")
            table = table.sort_by([(name, "ascending") for name in order])
        tables["transfer_events"] = table
    return tables


def _with_topic(logs: _Logs, topic: bytes, count: int) -> Numbers:
    """Rows of logs with that first topic and as many topics."""
    rows = numpy.flatnonzero(logs.topic_counts == count)
    first = logs.topics.view(">u8")[logs.first_topic[rows]]
    words = numpy.frombuffer(topic, ">u8")
    return rows[(first[:, 0] == words[0]) & (first[:, 1:] == words[1:]).all(axis=1)]


def _rows_of_form(
    logs: _Logs, shape: TransferShape, topic: bytes, topics: int, size: int, or_more: bool
) -> tuple[Numbers, Bytes, Bytes, Bytes]:
    """Rows of logs, sender, recipient and word; parties that are no addresses are left out."""
    rows = _with_topic(logs, topic, topics)
    sizes = logs.data.sizes[rows]
    rows = rows[sizes >= size if or_more else sizes == size]
    nobody: Bytes = numpy.zeros((len(rows), 32), numpy.uint8)
    sender = nobody if shape is TransferShape.WRAP else logs.topic(rows, 1)
    recipient = nobody
    if shape is not TransferShape.UNWRAP:
        recipient = logs.topic(rows, 1 if shape is TransferShape.WRAP else 2)
    is_clean = ~(sender[:, :_DIRT].any(axis=1) | recipient[:, :_DIRT].any(axis=1))
    rows = rows[is_clean]
    word = logs.topic(rows, 3) if shape is TransferShape.ID else logs.data.words(rows)
    return rows, sender[is_clean][:, _DIRT:], recipient[is_clean][:, _DIRT:], word


def _transfers(
    logs: _Logs,
    shape: TransferShape,
    topic: bytes,
    topics: int,
    size: int,
    or_more: bool,
    duplicates: set[int],
) -> pyarrow.Table | None:
    rows, sender, recipient, word = _rows_of_form(logs, shape, topic, topics, size, or_more)
    if not len(rows):
        return None
    limbs = hex_columns.limbs(word)
    is_duplicate: Mask = numpy.zeros(len(rows), bool)
    if shape in WRAPPING and duplicates:
        is_duplicate = numpy.isin(rows, list(duplicates))
    return make_table_of(
        "transfer_events",
        {
            "block_number": logs.block_numbers[rows],
            "transaction_index": logs.transaction_indexes[rows],
            "log_index": logs.indexes[rows],
            "batch_index": numpy.zeros(len(rows), numpy.int32),
            "token_address": hex_columns.binary(logs.addresses[rows]),
            "from_address": hex_columns.binary(sender),
            "to_address": hex_columns.binary(recipient),
            "shape": pyarrow.array([shape.value]).take(
                pyarrow.array(numpy.zeros(len(rows), numpy.int32))
            ),
            "is_duplicate": is_duplicate,
            **dict(zip(limb_names("id"), limbs, strict=True)),
            **dict(zip(limb_names("amount"), limbs, strict=True)),
        },
    )


def _duplicates(logs: _Logs) -> set[int]:
    """Rows of Deposits and Withdrawals that repeat a Transfer, by the contracts that emit both."""
    wraps = numpy.concatenate([_with_topic(logs, topic, 2) for topic in (DEPOSIT, WITHDRAWAL)])
    if not len(wraps):
        return set()
    wrappers = {address.tobytes() for address in logs.addresses[wraps]}
    by_block: dict[int, list[tuple[int, TransferEvent]]] = defaultdict(list)
    tokens = hex_columns.binary(logs.addresses).dictionary_encode()
    is_wrapper = numpy.fromiter(
        (address.as_py() in wrappers for address in tokens.dictionary), bool
    )
    for row in numpy.flatnonzero(is_wrapper[tokens.indices.to_numpy()]).tolist():
        if (event := transfer_event(logs.event_log(row))) is not None:
            by_block[int(logs.block_numbers[row])].append((row, event))
    duplicates = set()
    for events in by_block.values():
        log_indexes = duplicate_wraps([event for _, event in events])
        duplicates |= {row for row, event in events if event.log_index in log_indexes}
    return duplicates


def _block_tables(
    blocks: Sequence[BlockWithReceipts],
    headers: Sequence[dict[str, Any]],
    counts: Sequence[int],
    transactions: _Transactions,
    log_counts: Sequence[int],
) -> Tables:
    rows: Rows = []
    withdrawals: Rows = []
    start = 0
    for (block, _), header, count, log_count in zip(
        blocks, headers, counts, log_counts, strict=True
    ):
        number = header["number"]
        entries = _withdrawals(block, number)
        withdrawals += [(number, *entry) for entry in entries or ()]
        places = slice(start, start + count)
        rows.append(
            block_row(
                header,
                BlockCounts(
                    None if entries is None else len(entries),
                    False if number in transactions.runs_code else None,
                    count,
                    0,
                    log_count,
                    sum(
                        fee
                        for place, fee in transactions.blob_fees.items()
                        if start <= place < start + count
                    ),
                ),
                transactions.prices[places],
                transactions.gas[places],
            )
        )
        start += count
    try:
        tables = {"blocks": rows_table("blocks", rows)}
        if withdrawals:
            tables["withdrawals"] = rows_table("withdrawals", withdrawals)
    except OverflowError:
        raise Surprising from None
    return tables


def _withdrawals(block: BlockJson, number: int) -> list[Withdrawal] | None:
    try:
        return decode_withdrawals(block.withdrawals, number)
    except (BadHex, KeyError, TypeError, MalformedBlock):
        raise Surprising from None
