"""Checks of clients' values: pure functions that return a value or raise InvalidParameter; and the
parameters of queries that mean nothing.
"""

import difflib
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import unquote_plus

from scan.errors import InvalidParameter

MAX_LIMIT = 100
DEFAULT_LIMIT = 25
BIGINT_MAX = 2**63 - 1
MAX_TIME_S = 10**12 - 1  # a larger number is in milliseconds
LAST_TIME_S = 253_402_300_799  # of datetime: in the year 9999
DAY_S = 86_400
GREGORIAN_CYCLE_S = 12_622_780_800  # 400 years repeat exactly
LONGEST_NAME = 50  # of an unknown name, in an error

_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_HASH = re.compile(r"0[xX][0-9a-fA-F]{64}\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
MAX_TYPE = 255  # of a transaction (EIP-2718)
_HEX = re.compile(r"0[xX][0-9a-fA-F]*\Z")
_DIGITS = re.compile(r"[0-9]{1,19}\Z")
# ISO 8601, with an offset from UTC; a `+` that a query string does not escape is read as a space.
_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2})(?:(:[0-9]{2})(\.[0-9]{1,9})?)?"
    r"(?:[Zz]|([ +-])([01][0-9]|2[0-3]):?([0-5][0-9])?)\Z"
)
_UP_TO_UINT256 = re.compile(r"[0-9]{1,78}\Z")
_UINT256 = re.compile(r"(0|[1-9][0-9]{0,77})\Z")


def require(is_right: object, name: str, reason: str) -> None:
    """Raise InvalidParameter with the reason, which is a sentence, unless the value is right."""
    if not is_right:
        raise InvalidParameter(reason, field=name)


MAX_FAULTS = 20


class Faults:
    """The faults of a client's values, at most MAX_FAULTS, so that it hears of all at once."""

    def __init__(self) -> None:
        self._found: list[InvalidParameter] = []

    def read(self, parse: Callable[..., Any], *values: Any, **options: Any) -> Any:
        """Return what `parse` makes of values; None where it finds faults, which are noted."""
        try:
            return parse(*values, **options)
        except InvalidParameter as error:
            self._found += error.faults or (error,)
            return None

    def raise_found(self) -> None:
        """Raise InvalidParameter for the first fault, with all of them."""
        if self._found:
            error = InvalidParameter(self._found[0].message, field=self._found[0].field)
            error.faults = self._found[:MAX_FAULTS] if len(self._found) > 1 else ()
            raise error


def repeated(name: str) -> InvalidParameter:
    """Return the error for a name that has two values."""
    name = name[:LONGEST_NAME]
    return InvalidParameter(f"{name} is given more than once.", field=name)


def unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the values by name; raises InvalidParameter for a name that is there twice."""
    values = dict(pairs)
    if len(values) < len(pairs):
        [(name, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise repeated(name)
    return values


def required(values: Mapping[str, Any], name: str) -> Any:
    """Return the value. Raises InvalidParameter where the key is missing."""
    require(name in values, name, f"{name} is required.")
    return values[name]


def integer_text(
    arguments: Mapping[str, str], name: str, *, default: int, least: int, most: int = BIGINT_MAX
) -> int:
    text = arguments.get(name)
    if text is None:
        return default
    if _DIGITS.match(text) and least <= (value := int(text)) <= most:
        return value
    raise InvalidParameter(_range_message(name, least, most), field=name)


def integer(
    values: Mapping[str, Any], name: str, *, default: int, least: int, most: int = BIGINT_MAX
) -> int:
    """Return a JSON integer; a boolean, a fraction, null or text is none."""
    value: int = values.get(name, default)
    is_right = type(value) is int and least <= value <= most
    require(is_right, name, _range_message(name, least, most))
    return value


def _range_message(name: str, least: int, most: int) -> str:
    if most == BIGINT_MAX:
        return f"{name} must be a whole number, {least} or more."
    return f"{name} must be a whole number from {least} to {most}."


def time_s(value: object, name: str, *, is_upper: bool = False) -> int:
    """Return the Unix seconds of a time: a number of seconds, also as digits, or ISO 8601 with Z or
    an offset; or of a day in UTC, its first or, of an upper bound, its last second.

    A fraction, as JavaScript writes one, is rounded into the range that the time bounds.
    """
    if isinstance(value, str) and (moment := _MOMENT.match(value)):
        with suppress(ValueError):
            text = moment[1].upper() + (moment[2] or ":00")
            whole = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC)
            offset = timedelta(hours=int(moment[5] or 0), minutes=int(moment[6] or 0))
            seconds = int(whole.timestamp()) + int(offset.total_seconds()) * (
                1 if moment[4] == "-" else -1
            )
            has_fraction = bool((moment[3] or "").strip(".0"))
            value = seconds + (has_fraction and not is_upper)
    elif isinstance(value, str) and _DATE.match(value):
        with suppress(ValueError):
            day = datetime.strptime(value, "%Y-%m-%d").replace(tzinfo=UTC)
            value = int(day.timestamp()) + (DAY_S - 1 if is_upper else 0)
    elif isinstance(value, str) and _DIGITS.match(value):
        value = int(value)
    if type(value) is not int or not 0 <= value <= MAX_TIME_S:
        raise InvalidParameter(
            f"{name} must be a time with Z or an offset, such as 2026-01-31T23:59:59Z or"
            " 2026-01-31T23:59:59+02:00, a day such as 2026-01-31, or Unix seconds.",
            field=name,
        )
    return value


def unix_seconds(moment: str) -> int:
    """Return a record's time in Unix seconds, also of a year after 9999, datetime's last."""
    year, _, rest = moment.partition("-")
    cycles = int(year) // 400 - 5
    alike = datetime.fromisoformat(f"{int(year) - 400 * cycles}-{rest}")
    return int(alike.timestamp()) + cycles * GREGORIAN_CYCLE_S


def moment(seconds: int) -> str:
    """Return a time as records have it; of a year after 9999 its Unix seconds, which time_s() takes
    as well."""
    if seconds > LAST_TIME_S:
        return str(seconds)
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def optional_date(arguments: Mapping[str, str], name: str) -> date | None:
    """Return a day, given as 2026-01-31; None if it is not given."""
    if name not in arguments:
        return None
    if _DATE.match(arguments[name]):
        with suppress(ValueError):
            return date.fromisoformat(arguments[name])
    raise InvalidParameter(f"{name} must be a date such as 2026-01-31.", field=name)


def address(value: object, name: str = "address") -> bytes:
    return _hex_bytes(value, name, 20)


def pool(value: object, name: str = "address") -> bytes:
    """Return an address, or the address of a manager of pools with the id of one."""
    has_id = isinstance(value, str) and len(value) > 2 + 2 * 20
    return _hex_bytes(value, name, 52 if has_id else 20)


def hash32(value: object, name: str = "hash") -> bytes:
    return _hex_bytes(value, name, 32)


def digest(value: str) -> bytes:
    """Return a SHA-256 from a path: 64 hex digits in lower case, so that a content has one URL."""
    require(_DIGEST.match(value), "digest", "digest must be 64 hex digits in lower case.")
    return bytes.fromhex(value)


def pubkey(value: object, name: str = "pubkey") -> bytes:
    """Return a validator's public key."""
    return _hex_bytes(value, name, 48)


def method(value: object, name: str = "method") -> bytes:
    """Return a function's selector."""
    return _hex_bytes(value, name, 4)


def _hex_bytes(value: object, name: str, size: int) -> bytes:
    """Return `size` bytes from 0x and hex digits in any letter case."""
    digits = 2 * size
    if not isinstance(value, str) or len(value) != 2 + digits or not _HEX.match(value):
        raise InvalidParameter(f"{name} must be 0x followed by {digits} hex digits.", field=name)
    return bytes.fromhex(value[2:])


def flag(value: object, name: str) -> bool:
    """Return a boolean, given as JSON's or as a word in a query string."""
    is_right = type(value) in (bool, str) and value in (True, False, "true", "false")
    require(is_right, name, f"{name} must be true or false.")
    return value in (True, "true")


def unsigned(value: object, name: str, *, most: int) -> bytes:
    """Return a number, also given as text, as rows of transactions have it: big-endian, without
    leading zeros."""
    if isinstance(value, str) and _UP_TO_UINT256.match(value):
        value = int(value)
    if type(value) is not int or not 0 <= value <= most:
        raise InvalidParameter(_range_message(name, 0, most), field=name)
    return value.to_bytes(-(-value.bit_length() // 8))


def block_number_or_hash(value: str) -> int | bytes:
    if _DIGITS.match(value) and int(value) <= BIGINT_MAX:
        return int(value)
    if _HASH.match(value):
        return bytes.fromhex(value[2:])
    reason = "A block must be given by its number, or by its hash: 0x followed by 64 hex digits."
    raise InvalidParameter(reason, field="block")


def token_id(value: str) -> int:
    """Return a uint256, given as records have it: decimal digits without sign and leading zeros."""
    reason = "A token id must be a whole number from 0 to 2^256 - 1, in decimal digits."
    require(_UINT256.match(value) and int(value) < 2**256, "tokenId", reason)
    return int(value)


def optional_address(values: Mapping[str, Any], name: str) -> bytes | None:
    return address(values[name], name) if name in values else None


def text(value: object, name: str, *, most: int) -> str:
    """Return text without NUL, of at most `most` characters."""
    # JSON may escape half a surrogate pair, which has no UTF-8.
    if (
        not isinstance(value, str)
        or len(value) > most
        or any(char == "\0" or "\ud800" <= char <= "\udfff" for char in value)
    ):
        raise InvalidParameter(
            f"{name} must be text of at most {most} characters, without NUL.", field=name
        )
    return value


def one_of(value: object, name: str, allowed: Collection[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise InvalidParameter(f"{name} must be one of {', '.join(allowed)}.", field=name)
    return value


def required_one_of(values: Mapping[str, Any], name: str, allowed: Collection[str]) -> str:
    require(name in values, name, f"{name} is required: one of {', '.join(allowed)}.")
    return one_of(values[name], name, allowed)


# Parameters by names that mean the same elsewhere, also in records, without `_` and `-`, in lower
# case; the first one is meant that a path has.
_MEANINGS = {
    "from": "fromaddress sender owner address",
    "to": "toaddress recipient receiver",
    "tokenAddress": "token contract contractaddress",
    "address": "account wallet owner contract fromaddress toaddress",
    "tokenType": "type standard",
    "blockFrom": "fromblock startblock blockstart minblock",
    "blockTo": "toblock endblock blockend maxblock",
    "blockNumber": "block height blockheight",
    "timeFrom": "fromtime starttime timestart since after fromtimestamp starttimestamp",
    "timeTo": "totime endtime timeend until before totimestamp endtimestamp",
    "time": "timestamp at date",
    "limit": "pagesize perpage size count itemscount offset take",
    "page": "pageno pagenumber",
    "orderBy": "order sort sortby direction",
    "maker": "trader sender fromaddress",
    "method": "methodid selector function",
    "query": "q search",
}


def nearest(name: str, allowed: Collection[str]) -> str | None:
    """Return the known name that was probably meant, by its meaning or else its letters; None if
    none is near."""
    lower = name[:LONGEST_NAME].lower()
    plain = lower.replace("_", "").replace("-", "")
    for known in sorted(allowed):  # topic0 before topic1
        if known.lower().rstrip("0") == plain:
            return known
    for known, meanings in _MEANINGS.items():
        if known in allowed and plain in (known.lower(), *meanings.split()):
            return known
    by_lower_case = {word.lower(): word for word in allowed}
    matches = difflib.get_close_matches(lower, by_lower_case, n=1)
    return by_lower_case[matches[0]] if matches else None


def meant(name: str, allowed: Collection[str], otherwise: str) -> str:
    """Return whether the nearest known name was meant, as a question; `otherwise` if none is
    near."""
    similar = nearest(name, allowed)
    return f"did you mean {similar}?" if similar else otherwise


def unknown_argument(name: str, allowed: Collection[str]) -> InvalidParameter:
    """Return the error for a query parameter that is not `allowed`."""
    reason = f"allowed: {', '.join(allowed)}." if allowed else "this path accepts none."
    reason = meant(name, allowed, reason)
    name = name[:LONGEST_NAME]
    return InvalidParameter(f"Unknown query parameter {name!r}; {reason}", field=name)


# Caches, campaigns and trackers append these to any URL, besides those of campaigns that begin with
# utm_; they mean nothing here.
TRACKERS = frozenset(
    """
    dclid fbclid gad_source gbraid gclid gclsrc igsh igshid li_fat_id mc_cid mc_eid mkt_tok msclkid
    ref ref_src ref_url srsltid ttclid twclid wbraid yclid
    """.split()
)


def without_ignored(query: str, *, is_page: bool) -> str:
    """Return a query string without parameters that begin with `_`, and of a page without those of
    campaigns and trackers, so that neither views nor keys of cached responses have them."""
    if not query or not (is_page or "_" in query or "%" in query):
        return query
    ignored = ("_", "utm_") if is_page else "_"
    fields = []
    for field in query.split("&"):
        name = unquote_plus(field.partition("=")[0]).lower()
        if not name.startswith(ignored) and not (is_page and name in TRACKERS):
            fields.append(field)
    return "&".join(fields)
