"""The text of `console.log` of Hardhat and Foundry, which is a call of an address without code.

A call's selector is that of one of Hardhat's and Foundry's functions; older versions of both wrote
`uint` and `int` into signatures. The text is what Hardhat prints: all values are texts, the first
is the format of Node's `util.format`. Both call it by STATICCALL: what carries value, or delegates,
is shown as the call that it is.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

import orjson

from scan.contracts.abi import AbiError, AbiType, decode, elementary, selector
from scan.extensions.traces.transaction_traces import TraceFrame, TransactionTrace
from scan.hex import to_hex

ADDRESS = b"console.log".rjust(20, b"\0")
MAX_CHARACTERS = 4_000  # of a text
MAX_ALL_CHARACTERS = 100_000  # of a transaction's texts
MAX_BYTES = 64 * 1024  # of a call's decoded values
_MIXED = ("uint256", "string", "bool", "address")
_MOST_MIXED = 4
_OTHERS = (
    *((alone,) for alone in ("int256", "bytes", *(f"bytes{size}" for size in range(1, 33)))),
    ("string", "int256"),  # Foundry's
)
# %d and %i after an even number of %: Hardhat has them as %s, as numbers may be large.
_NUMBERS = re.compile(r"((?<!%)(?:%%)*)%[di]")
_SPECIFIERS = re.compile(r"%[sfjoOc%]")


class Line(NamedTuple):
    """What one call of `console.log` says, and the place of the call."""

    trace_address: tuple[int, ...]
    text: str

    def record(self) -> dict[str, object]:
        return {"traceAddress": [*self.trace_address], "text": self.text}


@cache
def _functions() -> Mapping[bytes, Sequence[AbiType]]:
    """Return the types of the arguments by selector."""
    mixed = [types for n in range(_MOST_MIXED + 1) for types in product(_MIXED, repeat=n)]
    functions: dict[bytes, Sequence[AbiType]] = {}
    for types in [*mixed, *_OTHERS]:
        parsed = [*map(elementary, types)]
        for names in (",".join(types), re.sub(r"int256", "int", ",".join(types))):
            functions[selector(f"log({names})")] = parsed
    return functions


class Printed(NamedTuple):
    """What a transaction's calls of `console.log` say, in their order; `is_truncated` if lines may
    be left out after these."""

    lines: Sequence[Line] = ()
    is_truncated: bool = False


def printed(trace: TransactionTrace) -> Printed:
    """Return what the calls of a trace say, up to MAX_ALL_CHARACTERS."""
    lines: list[Line] = []
    left = MAX_ALL_CHARACTERS
    for frame in trace.frames:
        if (text := text_of(frame)) is not None:
            left -= len(text)
            if left < 0:
                return Printed(lines, True)
            lines.append(Line(frame.trace_address, text))
    return Printed(lines, trace.is_truncated)


def text_of(frame: TraceFrame) -> str | None:
    """Return what a call says; None of another call, and of one that does not decode."""
    is_plain = frame.type in ("CALL", "STATICCALL") and not frame.value
    if frame.to_address != ADDRESS or not is_plain:
        return None
    if (types := _functions().get(frame.input[:4])) is None:
        return None
    try:
        values = decode(types, frame.input[4:], most_bytes=MAX_BYTES)
    except AbiError:
        return None
    text = formatted([_text(*typed) for typed in zip(types, values, strict=True)])
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"


def _text(abi_type: AbiType, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace") if abi_type.kind == "string" else to_hex(value)
    return str(value)


def formatted(texts: Sequence[str]) -> str:
    """Return the texts as util.format() of Node has them, after Hardhat's change of the first."""
    if not texts:
        return ""
    form, *rest = texts
    form = _NUMBERS.sub(r"\1%s", form)
    if not rest:
        return form
    waiting = iter(rest)
    left = len(rest)

    def replaced(match: re.Match[str]) -> str:
        nonlocal left
        specifier = match[0][1]
        if specifier == "%":
            return "%"
        if not left:
            return match[0]
        left -= 1
        return _AS[specifier](next(waiting))

    return " ".join((_SPECIFIERS.sub(replaced, form), *waiting))


def _quoted(text: str) -> str:
    """Return a text as util.inspect() of Node quotes it."""
    quote = next((q for q in "'\"`" if q not in text and (q != "`" or "${" not in text)), "'")
    escaped = re.sub(r"[\x00-\x1f\x7f-\x9f\\]", _escaped, text)
    return f"{quote}{escaped.replace(quote, chr(92) + quote)}{quote}"


def _escaped(match: re.Match[str]) -> str:
    short = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "\\": "\\\\"}
    return short.get(match[0], f"\\x{ord(match[0]):02X}")


# %f of a whole number is the number here, where Node would round one above 2**53.
_AS: Mapping[str, Callable[[str], str]] = {
    "s": str,
    "f": str,
    "j": lambda text: orjson.dumps(text).decode(),
    "o": _quoted,
    "O": _quoted,
    "c": lambda _: "",
}
