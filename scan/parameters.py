"""What a client sends, checked: pure functions that return values or raise InvalidParameter."""

import difflib
import json
import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from scan.errors import InvalidJson, InvalidParameter

MAX_LIMIT = 100
DEFAULT_LIMIT = 25
PAGED = ("page", "limit")  # the parameters of a paginated list
BIGINT_MAX = 2**63 - 1
LONGEST_NAME = 50  # of an unknown name, in an error

_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{40}\Z")
_HASH = re.compile(r"0[xX][0-9a-fA-F]{64}\Z")
_DIGITS = re.compile(r"[0-9]{1,19}\Z")
_UINT256 = re.compile(r"(0|[1-9][0-9]{0,77})\Z")


class LimitAndOffset(NamedTuple):
    limit: int
    offset: int


def required(values: Mapping[str, Any], name: str) -> Any:
    """The value; raises InvalidParameter where the key is missing."""
    if name not in values:
        raise InvalidParameter(f"{name} is required.", field=name)
    return values[name]


def limit_and_offset(arguments: Mapping[str, str]) -> LimitAndOffset:
    """`page` (from 1) and `limit` (1 to 100) of a list's query string."""
    number = integer_text(arguments, "page", default=1, least=1)
    limit = integer_text(arguments, "limit", default=DEFAULT_LIMIT, least=1, most=MAX_LIMIT)
    return LimitAndOffset(limit, min((number - 1) * limit, BIGINT_MAX))


def integer_text(
    arguments: Mapping[str, str], name: str, *, default: int, least: int, most: int = BIGINT_MAX
) -> int:
    text = arguments.get(name)
    if text is None:
        return default
    if not _DIGITS.match(text) or not least <= int(text) <= most:
        raise InvalidParameter(_range_message(name, least, most), field=name)
    return int(text)


def integer(
    values: Mapping[str, Any], name: str, *, default: int, least: int, most: int = BIGINT_MAX
) -> int:
    """A JSON integer; not a boolean, a fraction, null or text."""
    value = values.get(name, default)
    if type(value) is not int or not least <= value <= most:
        raise InvalidParameter(_range_message(name, least, most), field=name)
    return value


def _range_message(name: str, least: int, most: int) -> str:
    if most == BIGINT_MAX:
        return f"{name} must be a whole number, {least} or more."
    return f"{name} must be a whole number from {least} to {most}."


def address(value: object, name: str = "address") -> bytes:
    """20 bytes from 0x and 40 hex digits in any letter case."""
    if not isinstance(value, str) or not _ADDRESS.match(value):
        raise InvalidParameter(f"{name} must be 0x followed by 40 hex digits.", field=name)
    return bytes.fromhex(value[2:])


def hash32(value: object, name: str = "hash") -> bytes:
    """32 bytes from 0x and 64 hex digits in any letter case."""
    if not isinstance(value, str) or not _HASH.match(value):
        raise InvalidParameter(f"{name} must be 0x followed by 64 hex digits.", field=name)
    return bytes.fromhex(value[2:])


def block_number_or_hash(value: str) -> int | bytes:
    if _DIGITS.match(value) and int(value) <= BIGINT_MAX:
        return int(value)
    if _HASH.match(value):
        return bytes.fromhex(value[2:])
    raise InvalidParameter(
        "A block must be given by its number, or by its hash: 0x followed by 64 hex digits.",
        field="block",
    )


def token_id(value: str) -> int:
    """A uint256 as it is written in records: decimal digits, without a sign or leading zeros."""
    if not _UINT256.match(value) or int(value) >= 2**256:
        raise InvalidParameter(
            "A token id must be a whole number from 0 to 2^256 - 1, in decimal digits.",
            field="tokenId",
        )
    return int(value)


def optional_address(values: Mapping[str, Any], name: str) -> bytes | None:
    return address(values[name], name) if name in values else None


def text(value: object, name: str, *, most: int) -> str:
    """Text without NUL, of at most `most` characters."""
    if not isinstance(value, str) or len(value) > most or "\0" in value or not _is_unicode(value):
        raise InvalidParameter(
            f"{name} must be text of at most {most} characters, without NUL.", field=name
        )
    return value


def _is_unicode(value: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in value)


def one_of(value: object, name: str, allowed: Collection[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise InvalidParameter(f"{name} must be one of {', '.join(allowed)}.", field=name)
    return value


def required_one_of(values: Mapping[str, Any], name: str, allowed: Collection[str]) -> str:
    if name not in values:
        raise InvalidParameter(f"{name} is required: one of {', '.join(allowed)}.", field=name)
    return one_of(values[name], name, allowed)


def nearest(name: str, known: Collection[str]) -> str | None:
    """The known name that was probably meant, if any is near."""
    by_lower_case = {word.lower(): word for word in known}
    found = difflib.get_close_matches(name[:LONGEST_NAME].lower(), by_lower_case, n=1)
    return by_lower_case[found[0]] if found else None


def only_known_arguments(names: Collection[str], known: Collection[str]) -> None:
    """Raises for the first query parameter that no view reads; `_` begins those to be ignored."""
    for name in names:
        if name and name not in known and not name.startswith("_"):
            raise InvalidParameter(_unknown_message(name, known), field=name[:LONGEST_NAME])


def _unknown_message(name: str, known: Collection[str]) -> str:
    unknown = f"Unknown query parameter {name[:LONGEST_NAME]!r}"
    found = nearest(name, known)
    if found is not None:
        return f"{unknown}; did you mean {found}?"
    allowed = f"allowed: {', '.join(known)}" if known else "this path accepts none"
    return f"{unknown}; {allowed}."


def only_known(values: Mapping[str, Any], allowed: Collection[str], what: str) -> None:
    """Raises for the first key that nobody reads: a typo must not silently widen a query."""
    for name in values:
        if name not in allowed:
            known = f"allowed: {', '.join(allowed)}" if allowed else "none is allowed"
            raise InvalidParameter(
                f"Unknown {what} {name[:LONGEST_NAME]!r}; {known}.", field=name[:LONGEST_NAME]
            )


def json_object(body: bytes) -> dict[str, Any]:
    """The body as a JSON object with no key twice; raises InvalidJson."""
    try:
        value = json.loads(
            body.decode("utf-8"), object_pairs_hook=_unique_keys, parse_constant=_no_constant
        )
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, _Repeated) else "it cannot be parsed"
        raise InvalidJson(f"The body must be a JSON object: {reason}.") from None
    if not isinstance(value, dict):
        raise InvalidJson("The body must be a JSON object.")
    return value


class _Repeated(ValueError):
    pass


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise _Repeated("it contains a duplicate key")
    return values


def _no_constant(name: str) -> None:
    raise ValueError(name)
