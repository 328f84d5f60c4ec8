"""Values as PostgreSQL's COPY reads them in its text format. Pure."""

from collections.abc import Sequence

NULL = "\\N"
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def line(row: Sequence[object]) -> str:
    """A row of ints, bytes, bools, text and None, with its end."""
    return "\t".join(map(_field, row)) + "\n"


def bytea(value: bytes | None) -> str:
    return NULL if value is None else "\\\\x" + value.hex()


def integer(value: int | None) -> str:
    """An unsigned integer as bytea: big-endian, without leading zeros; zero has no byte."""
    if value is None:
        return NULL
    digits = f"{value:x}" if value else ""
    return f"\\\\x0{digits}" if len(digits) % 2 else f"\\\\x{digits}"


def bytea_array(values: Sequence[bytes] | None) -> str:
    if values is None:
        return NULL
    return "{" + ",".join(f'"\\\\\\\\x{value.hex()}"' for value in values) + "}"


def _field(value: object) -> str:
    if value is None:
        return NULL
    if isinstance(value, bytes):
        return bytea(value)
    if isinstance(value, str):
        return value.translate(_ESCAPES)
    return str(value)
