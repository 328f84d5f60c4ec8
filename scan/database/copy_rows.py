"""Rows written by PostgreSQL's COPY, and the text that it reads, made from values."""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence

from scan.database.transaction import Readable, Transaction

NULL = "\\N"
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def copy_records(
    tx: Transaction,
    table: str,
    columns: Sequence[str],
    records: Iterable[Mapping[str, object]],
) -> None:
    """COPY records, with the columns' values by name: ints, bytes, bools, text and None."""
    copy_lines(tx, table, columns, (line([record[name] for name in columns]) for record in records))


def copy_lines(tx: Transaction, table: str, columns: Iterable[str], lines: Iterable[str]) -> None:
    """COPY lines that line() has made. A text of `lines` may have several."""
    text = "".join(lines)
    if text:
        tx.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN", io.StringIO(text))


def copy_csv(
    tx: Transaction, table: str, columns: Iterable[str], file: Readable, read_bytes: int
) -> int:
    """COPY from a file of PostgreSQL's CSV, read by `read_bytes`. Return how many rows it had."""
    target = f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT csv)"
    return tx.copy(target, file, read_bytes)


def line(row: Iterable[object]) -> str:
    """Return the line, with its end, of a row of ints, bytes, bools, text, tuples of bytes and
    None."""
    # The most frequent types of a transaction come first, and without a call: a sixth faster.
    texts = [
        f"\\\\x{value.hex()}"
        if value.__class__ is bytes
        else NULL
        if value is None
        else str(value)
        if value.__class__ is int
        else _TEXT.get(value.__class__, str)(value)
        for value in row
    ]
    return "\t".join(texts) + "\n"


def _bytea_array(values: Sequence[bytes]) -> str:
    return "{" + ",".join(f'"\\\\\\\\x{value.hex()}"' for value in values) + "}"


# The text of values by their class. All others, such as numbers, have Python's own text.
_TEXT: dict[type, Callable[..., str]] = {
    tuple: _bytea_array,
    str: lambda text: text.translate(_ESCAPES),
}
