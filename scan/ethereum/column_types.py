"""Types of stored columns, and how a node's JSON becomes their values, a column at a time. Pure.

A block's values are decoded column by column: a repeated text is decoded once, and hex of a fixed
size all at once. It takes 6 us of processor a transaction, against 12 us field by field.
"""

from binascii import unhexlify
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import Any, NamedTuple, get_args, get_type_hints

from scan.hex import BadHex, data, excerpt, quantity

MAX_TIMESTAMP_S = 9_000_000_000_000  # within PostgreSQL's timestamptz
MAX_KEPT = 16_384  # values of a type that are kept


class _DecodedValues(dict[Any, Any]):
    """Decoded values by their text. Blocks repeat most of them: indexes, amounts of gas, prices and
    types."""

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self._read = read

    def __missing__(self, text: Any) -> Any:
        value = self._read(text)
        if len(self) >= MAX_KEPT:
            self.clear()
        self[text] = value
        return value


class ColumnType(NamedTuple):
    """The type of a column. `read` decodes one JSON value or raises BadHex. `size` is in bytes;
    None where it varies."""

    name: str
    read: Callable[[Any], Any] = data
    size: int | None = None


def _at_most(largest: int, fault: str, value: object) -> int:
    if (number := quantity(value)) > largest:
        raise BadHex(fault)
    return number


def _unsigned(value: object) -> bytes:
    """Return a QUANTITY as big-endian bytes without leading zeros; zero is b""."""
    if isinstance(value, str) and value[:2] == "0x" and 2 < len(value) <= 66:
        try:
            return unhexlify(value[2:] if len(value) % 2 == 0 else f"0{value[2:]}").lstrip(b"\0")
        except ValueError:
            pass
    raise BadHex(f"not a hex quantity: {excerpt(value)}")


def as_unsigned(number: int) -> bytes:
    """Return an integer as a column of the type UNSIGNED has it."""
    return number.to_bytes((number.bit_length() + 7) // 8)


ADDRESS = ColumnType("address", partial(data, length=20), 20)
HASH = ColumnType("hash", partial(data, length=32), 32)
HASHES = ColumnType("hashes", lambda values: tuple([data(value, 32) for value in values]))
BYTES = ColumnType("bytes")
UINT256 = ColumnType("uint256", _DecodedValues(quantity).__getitem__)
UNSIGNED = ColumnType("unsigned", _DecodedValues(_unsigned).__getitem__)
BIGINT = ColumnType("bigint", partial(_at_most, 2**63 - 1, "beyond 63 bits"))
SMALLINT = ColumnType("smallint")
INTEGER = ColumnType(
    "integer", _DecodedValues(partial(_at_most, 2**31 - 1, "beyond 31 bits")).__getitem__
)
TIMESTAMP = ColumnType(  # in seconds since 1970
    "timestamp", partial(_at_most, MAX_TIMESTAMP_S, "beyond any calendar")
)
BOOLEAN = ColumnType("boolean")
TEXT = ColumnType("text")


class ValueKind(Enum):
    """Why a stored value of a block is believed. The members are how documents say it."""

    PROVEN = "proven"  # covered by the block's hash, by its roots or by a transaction's hash
    COMPUTED = "computed"  # here, from what is proven
    SAID = "said"  # by the node alone: records name it in `unproven`


PROVEN, COMPUTED, SAID = ValueKind


class Column(NamedTuple):
    """A column's properties besides its name. annotated_columns() sets `is_nullable` by the field's
    type hint. A value of another kind than `kind` has a reason in its block's `unproven`."""

    type: ColumnType
    kind: ValueKind
    json_name: str = ""  # the field of the node's JSON; "": the column is computed
    of_receipt: bool = False  # the field is one of the receipt's
    # The file of migrations/ that added it: null in rows from before it.
    added_by: str = ""
    is_nullable: bool = False


def annotated_columns(record: type) -> dict[str, Column]:
    """Return the columns of a NamedTuple by field: those that are annotated with a Column."""
    hints = get_type_hints(record, include_extras=True)
    return {
        name: column._replace(is_nullable=type(None) in get_args(get_args(hint)[0]))
        for name, hint in hints.items()
        for column in getattr(hint, "__metadata__", ())
        if isinstance(column, Column)
    }


def read_values(column: Column, values: Sequence[Any]) -> list[Any]:
    """Decode the values of a column from those of its JSON field. Raises BadHex, which names the
    field."""
    if column.is_nullable and None in values:
        if values.count(None) == len(values):
            return list(values)
        present = iter(read_values(column, [value for value in values if value is not None]))
        return [None if value is None else next(present) for value in values]
    if column.type.size is not None:
        decoded = _fixed(values, column.type.size)
        if decoded is not None:
            return decoded
    try:
        return [*map(column.type.read, values)]
    except (BadHex, TypeError):
        return [read_value(column, value) for value in values]


def read_value(column: Column, value: Any) -> Any:
    """Decode one value, as read_values() does."""
    try:
        return None if value is None and column.is_nullable else column.type.read(value)
    except (BadHex, TypeError) as error:
        raise BadHex(f"{column.json_name}: {error}") from None


def _fixed(texts: Sequence[Any], size: int) -> list[bytes] | None:
    """Decode DATA of `size` bytes each at once; return None where a text is malformed."""
    width, count = 2 + 2 * size, len(texts)
    try:
        text = "".join(texts)
        if (
            set(map(len, texts)) - {width}
            or text[::width] + text[1::width] != "0" * count + "x" * count
            or text.count("x") != count  # an x among the digits
        ):
            return None
        # Decoding each prefix as a byte that is then skipped takes a third of the time of removing
        # the prefixes first.
        content = unhexlify(text.encode().translate(_PREFIX_TO_ZEROS))
    except (TypeError, ValueError):
        return None
    return [content[start : start + size] for start in range(1, len(content), size + 1)]


_PREFIX_TO_ZEROS = bytes.maketrans(b"x", b"0")
