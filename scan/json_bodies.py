"""JSON bodies of clients: bounds that are checked before parsing, and unknown keys."""

import json
import re
import threading
from collections.abc import Collection, Mapping
from itertools import accumulate, islice
from string import digits
from typing import Any

from scan.errors import InvalidJson, InvalidParameter, TooLarge
from scan.parameters import LONGEST_NAME, MAX_FAULTS, Faults, nearest, unique

MAX_SOURCES_BYTES = 5 * 1024 * 1024  # of a body with sources to verify: 1 MiB, escaped
# While JSON is counted and parsed, no other thread runs: 5 MiB of `{"":{}},` took 1.2 s, 45,000
# files 90 ms. Counting takes at most 40 ms, parsing this many values 15 ms. A standard JSON input
# has two values for each file, so all of OpenZeppelin has 500; metadata has three for each
# parameter of the ABI.
MOST_JSON_VALUES = 30_000
MOST_JSON_LEVELS = 100  # metadata of a contract has about 15
BYTE_ORDER_MARK = "\ufeff"  # that editors write before text, and parsers may ignore (RFC 8259)
MOST_JSON_DIGITS = 1000  # of one number, which is converted in quadratic time

_NO_BRACKETS = re.compile(r"[^\[\]{}]+")


def only_known(values: Mapping[str, Any], allowed: Collection[str], kind: str) -> None:
    """Raise InvalidParameter for unknown keys: a typo must not silently widen a query."""

    def refuse(name: str) -> None:
        hint = f"allowed: {', '.join(allowed)}" if allowed else "none is allowed"
        if similar := nearest(name, allowed):
            hint = f"did you mean {similar}? {hint}"
        raise InvalidParameter(
            f"Unknown {kind} {name[:LONGEST_NAME]!r}; {hint}.", field=name[:LONGEST_NAME]
        )

    faults = Faults()
    for name in islice((name for name in values if name not in allowed), MAX_FAULTS):
        faults.read(refuse, name)
    faults.raise_found()


def json_object(body: bytes) -> dict[str, Any]:
    """Return the body as a JSON object without repeated keys. Raises InvalidJson, TooLarge."""
    try:
        value = parse_json(
            body.decode("utf-8"), object_pairs_hook=unique, parse_constant=_no_constant
        )
    except InvalidParameter as error:
        raise InvalidJson(f"The body must be a JSON object: {error.message}") from None
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, _Refused) else "it cannot be parsed"
        raise InvalidJson(f"The body must be a JSON object: {reason}.") from None
    if not isinstance(value, dict):
        raise InvalidJson("The body must be a JSON object.")
    return value


# Several large texts that are parsed at once would together hold the interpreter as much longer.
_parsing = threading.Lock()


def parse_json(text: str, **hooks: Any) -> Any:
    """Parse a client's JSON after check_json(). `hooks` are those of json.loads().

    Raises ValueError, RecursionError, TooLarge.
    """
    text = text.removeprefix(BYTE_ORDER_MARK)
    with _parsing:
        check_json(text)
        return json.loads(text, parse_int=_int, **hooks)


def check_json(text: str, most_values: int = MOST_JSON_VALUES) -> None:
    """Check the bounds of a client's JSON before any parser makes values of it.

    Raises TooLarge for more than `most_values` values, ValueError for more than MOST_JSON_LEVELS
    levels, or a number of more than MOST_JSON_DIGITS digits. The parser finds all other faults.
    """
    opened = sum(map(text.count, "[{"))
    if len(text) <= MOST_JSON_DIGITS and opened <= MOST_JSON_LEVELS:
        return
    # Strings are left out: a source is full of commas, brackets and digits.
    unescaped = text.replace(r"\\", "").replace(r"\"", "")
    are_few = unescaped.count('"') <= 4 * most_values  # a value has one string and perhaps a key
    outside = "".join(unescaped.split('"')[::2]) if are_few else ""
    if not are_few or sum(map(outside.count, ",[{")) > most_values:
        raise TooLarge(f"The JSON may hold at most {most_values:,} values.")
    if _has_long_number(outside):
        raise _Refused(f"a number has more than {MOST_JSON_DIGITS:,} digits")
    if sum(map(outside.count, "[{")) != sum(map(outside.count, "]}")):
        raise ValueError("brackets are not paired")
    steps = (1 if bracket in "[{" else -1 for bracket in _NO_BRACKETS.sub("", outside))
    if max(accumulate(steps), default=0) > MOST_JSON_LEVELS:
        raise _Refused(f"it nests deeper than {MOST_JSON_LEVELS} levels")


def _has_long_number(outside: str) -> bool:
    """Return whether a number has more than MOST_JSON_DIGITS digits.

    Such a number covers one of every MOST_JSON_DIGITS + 1 places, so only these are looked at. 5 MB
    of shorter numbers take 80 ms; a regular expression took 280 ms.
    """
    step = MOST_JSON_DIGITS + 1
    for index in range(MOST_JSON_DIGITS, len(outside), step):
        if outside[index] in digits:
            before, after = outside[index - step + 1 : index], outside[index : index + step]
            length = (
                len(before) - len(before.rstrip(digits)) + len(after) - len(after.lstrip(digits))
            )
            if length > MOST_JSON_DIGITS:
                return True
    return False


def _int(digits: str) -> int:
    """Convert a number. As a Python function it lets other threads run between two numbers: 1,300
    numbers of 4,000 digits take 70 ms."""
    return int(digits)


class _Refused(ValueError):
    """The JSON is refused, for a reason that the client is told."""


def _no_constant(name: str) -> None:
    # NaN and Infinity are no JSON, though Python reads them.
    raise ValueError(name)
