"""What a client sends, checked: pure functions that return values or raise InvalidParameter."""

import difflib
import json
import re
import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from itertools import accumulate
from string import digits
from typing import Any

from scan.errors import InvalidJson, InvalidParameter, TooLarge

MAX_LIMIT = 100
DEFAULT_LIMIT = 25
BIGINT_MAX = 2**63 - 1
MAX_TIME_S = 10**12 - 1  # beyond it they are milliseconds
LONGEST_NAME = 50  # of an unknown name, in an error
# While JSON is counted and parsed no other thread runs: 5 MiB of `{"":{}},` took 1.2 s, 45,000
# files 90 ms. Counting takes at most 40 ms, parsing this many values 15 ms. A standard JSON input
# has two for each file: all of OpenZeppelin 500; metadata three for each parameter of the ABI.
MOST_JSON_VALUES = 30_000
MOST_JSON_LEVELS = 100  # metadata of a contract has about 15
MOST_JSON_DIGITS = 1000  # of one number; they are converted in quadratic time

_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{40}\Z")
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_HASH = re.compile(r"0[xX][0-9a-fA-F]{64}\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_PUBKEY = re.compile(r"0[xX][0-9a-fA-F]{96}\Z")
_TYPE = re.compile(r"[0-9]{1,3}\Z")
MAX_TYPE = 255
_METHOD = re.compile(r"0[xX][0-9a-fA-F]{8}\Z")
_DIGITS = re.compile(r"[0-9]{1,19}\Z")
_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]{1,9})?(?:Z|\+00:00)\Z"
)
_UINT256 = re.compile(r"(0|[1-9][0-9]{0,77})\Z")
_NO_BRACKETS = re.compile(r"[^\[\]{}]+")


def required(values: Mapping[str, Any], name: str) -> Any:
    """The value; raises InvalidParameter where the key is missing."""
    if name not in values:
        raise InvalidParameter(f"{name} is required.", field=name)
    return values[name]


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


def time_s(value: object, name: str, *, is_upper: bool = False) -> int:
    """Unix seconds of a time: a number of them, also as digits, or ISO 8601 in UTC.

    A fraction, as JavaScript writes one, is rounded into the range that the time bounds.
    """
    if isinstance(value, str) and (moment := _MOMENT.match(value)):
        with suppress(ValueError):
            whole = datetime.strptime(moment[1], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC)
            has_fraction = bool((moment[2] or "").strip(".0"))
            return int(whole.timestamp()) + (has_fraction and not is_upper)
    if isinstance(value, str) and _DIGITS.match(value):
        value = int(value)
    if type(value) is not int or not 0 <= value <= MAX_TIME_S:
        raise InvalidParameter(
            f"{name} must be a time in UTC such as 2026-01-31T23:59:59Z, or Unix seconds.",
            field=name,
        )
    return value


def optional_date(arguments: Mapping[str, str], name: str) -> date | None:
    """A day, such as 2026-01-31."""
    if name not in arguments:
        return None
    if _DATE.match(arguments[name]):
        with suppress(ValueError):
            return date.fromisoformat(arguments[name])
    raise InvalidParameter(f"{name} must be a date such as 2026-01-31.", field=name)


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


def digest(value: str) -> bytes:
    """A SHA-256 in a path: 64 hex digits in lower case, so that one content has one URL."""
    if not _DIGEST.match(value):
        raise InvalidParameter("digest must be 64 hex digits in lower case.", field="digest")
    return bytes.fromhex(value)


def pubkey(value: object, name: str = "pubkey") -> bytes:
    """A validator's key: 48 bytes from 0x and 96 hex digits in any letter case."""
    if not isinstance(value, str) or not _PUBKEY.match(value):
        raise InvalidParameter(f"{name} must be 0x followed by 96 hex digits.", field=name)
    return bytes.fromhex(value[2:])


def method(value: object, name: str = "method") -> bytes:
    """A function's selector: 4 bytes from 0x and 8 hex digits."""
    if not isinstance(value, str) or not _METHOD.match(value):
        raise InvalidParameter(f"{name} must be 0x followed by 8 hex digits.", field=name)
    return bytes.fromhex(value[2:])


def flag(value: object, name: str) -> bool:
    """A boolean of JSON, or the word for it in a query string."""
    if value not in (True, False, "true", "false") or type(value) not in (bool, str):
        raise InvalidParameter(f"{name} must be true or false.", field=name)
    return value in (True, "true")


def transaction_type(value: object, name: str) -> bytes:
    """A transaction's type (EIP-2718), as rows have it: a byte, none of 0."""
    number = int(value) if isinstance(value, str) and _TYPE.match(value) else value
    if type(number) is not int or not 0 <= number <= MAX_TYPE:
        raise InvalidParameter(_range_message(name, 0, MAX_TYPE), field=name)
    return bytes([number]) if number else b""


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
    # JSON may escape half a surrogate pair, which has no UTF-8.
    return not any("\ud800" <= character <= "\udfff" for character in value)


def one_of(value: object, name: str, allowed: Collection[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise InvalidParameter(f"{name} must be one of {', '.join(allowed)}.", field=name)
    return value


def required_one_of(values: Mapping[str, Any], name: str, allowed: Collection[str]) -> str:
    if name not in values:
        raise InvalidParameter(f"{name} is required: one of {', '.join(allowed)}.", field=name)
    return one_of(values[name], name, allowed)


def nearest(name: str, allowed: Collection[str]) -> str | None:
    """The known name that was probably meant, if any is near."""
    by_lower_case = {word.lower(): word for word in allowed}
    matches = difflib.get_close_matches(name[:LONGEST_NAME].lower(), by_lower_case, n=1)
    return by_lower_case[matches[0]] if matches else None


def only_known_arguments(names: Collection[str], allowed: Collection[str]) -> None:
    """Raises for the first query parameter that no view reads; `_` begins those to be ignored."""
    for name in names:
        if name and name not in allowed and not name.startswith("_"):
            raise InvalidParameter(_unknown_message(name, allowed), field=name[:LONGEST_NAME])


def _unknown_message(name: str, known: Collection[str]) -> str:
    unknown = f"Unknown query parameter {name[:LONGEST_NAME]!r}"
    similar = nearest(name, known)
    if similar is not None:
        return f"{unknown}; did you mean {similar}?"
    allowed = f"allowed: {', '.join(known)}" if known else "this path accepts none"
    return f"{unknown}; {allowed}."


def only_known(values: Mapping[str, Any], allowed: Collection[str], kind: str) -> None:
    """Raises for the first key that nobody reads: a typo must not silently widen a query."""
    for name in values:
        if name not in allowed:
            hint = f"allowed: {', '.join(allowed)}" if allowed else "none is allowed"
            raise InvalidParameter(
                f"Unknown {kind} {name[:LONGEST_NAME]!r}; {hint}.", field=name[:LONGEST_NAME]
            )


def json_object(body: bytes) -> dict[str, Any]:
    """The body as a JSON object with no key twice; raises InvalidJson, TooLarge."""
    try:
        value = parse_json(
            body.decode("utf-8"), object_pairs_hook=_unique_keys, parse_constant=_no_constant
        )
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, _Refused) else "it cannot be parsed"
        raise InvalidJson(f"The body must be a JSON object: {reason}.") from None
    if not isinstance(value, dict):
        raise InvalidJson("The body must be a JSON object.")
    return value


# Several large texts parsed at once would together keep the interpreter for as much longer.
_parsing = threading.Lock()


def parse_json(text: str, **hooks: Any) -> Any:
    """json.loads() for what a client sends, after check_json(); `hooks` are its own.

    Raises ValueError, RecursionError, TooLarge.
    """
    with _parsing:
        check_json(text)
        return json.loads(text, parse_int=_int, **hooks)


def check_json(text: str, most_values: int = MOST_JSON_VALUES) -> None:
    """Check what a client sends before any value of it is made, by whatever parser.

    Raises TooLarge for more than `most_values` values, ValueError for what nests deeper than
    MOST_JSON_LEVELS, or has a number of more than MOST_JSON_DIGITS digits. What the text is
    otherwise, its parser finds out.
    """
    opened = sum(map(text.count, "[{"))
    if len(text) <= MOST_JSON_DIGITS and opened <= MOST_JSON_LEVELS:
        return
    # A source is full of commas, brackets and digits.
    outside = _outside_of_strings(text, most_values)
    if sum(map(outside.count, ",[{")) > most_values:
        raise _too_many_values(most_values)
    if _has_long_number(outside):
        raise _Refused(f"a number has more than {MOST_JSON_DIGITS:,} digits")
    if _levels(outside) > MOST_JSON_LEVELS:
        raise _Refused(f"it nests deeper than {MOST_JSON_LEVELS} levels")


def _outside_of_strings(text: str, most_values: int) -> str:
    unescaped = text.replace(r"\\", "").replace(r"\"", "")
    if unescaped.count('"') > 4 * most_values:  # a value has one string and perhaps a key
        raise _too_many_values(most_values)
    return "".join(unescaped.split('"')[::2])


def _too_many_values(most: int) -> TooLarge:
    return TooLarge(f"The JSON may hold at most {most:,} values.")


def _has_long_number(outside: str) -> bool:
    """A number that is too long covers one place of every MOST_JSON_DIGITS + 1.

    5 MB of shorter ones take 80 ms; with a regular expression they took 280.
    """
    step = MOST_JSON_DIGITS + 1
    for place in range(MOST_JSON_DIGITS, len(outside), step):
        if outside[place] in digits:
            before, after = outside[place - step + 1 : place], outside[place : place + step]
            length = (
                len(before) - len(before.rstrip(digits)) + len(after) - len(after.lstrip(digits))
            )
            if length > MOST_JSON_DIGITS:
                return True
    return False


def _levels(outside: str) -> int:
    """Return how deep brackets nest; those that nothing closes, or opened, are no JSON."""
    if sum(map(outside.count, "[{")) != sum(map(outside.count, "]}")):
        raise ValueError("brackets are not paired")
    brackets = _NO_BRACKETS.sub("", outside)
    return max(accumulate(1 if bracket in "[{" else -1 for bracket in brackets), default=0)


def _int(digits: str) -> int:
    """Other threads run between two numbers: 1,300 of 4,000 digits take 70 ms."""
    return int(digits)


class _Refused(ValueError):
    """A reason that the client is told."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise _Refused("it contains a duplicate key")
    return values


def _no_constant(name: str) -> None:
    # NaN and Infinity are no JSON, though Python reads them.
    raise ValueError(name)
