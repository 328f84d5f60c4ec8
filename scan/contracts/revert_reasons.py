"""Why a call failed: a sentence, and the decoded error that the contract reverted with; and errors
that others carry in their bytes, as the reason of a call inside."""

import codecs
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from scan.contracts import abi_decoding
from scan.contracts.abi import AbiError, AbiType, parse_signature, parse_types
from scan.ethereum.node_errors import KINDS, OTHER, REVERT, CallFailure
from scan.hex import data, to_hex

MAX_SENTENCE = 1000
MAX_ARGUMENT = 200
MAX_INNER = 32  # errors inside of an error, an event or a result, at all levels
MAX_INNER_DEPTH = 4
MAX_INNER_BYTES = 16 * 1024

# Kinds of reasons by the data that a contract returned as it reverted.
ERROR, PANICKED, CUSTOM = "error", "panic", "custom"
UNKNOWN_DATA, NO_REASON = "unknown_error", "revert_without_reason"
UNKNOWN = "unknown"  # neither contract nor node gave a reason
REASON_KINDS = (
    ERROR,
    PANICKED,
    CUSTOM,
    UNKNOWN_DATA,
    NO_REASON,
    *(kind for kind in KINDS if kind != REVERT),
    UNKNOWN,
)

_TABLE = tomllib.loads(Path(__file__).with_name("reasons.toml").read_text(encoding="utf-8"))
_SENTENCES: Mapping[str, str] = _TABLE["sentences"]
_PANICS: Mapping[str, str] = _TABLE["panics"]
_REVERTED = "The call reverted: "  # the contract's own words follow
_EMPTY_TEXT = "The call reverted with an empty text."
_ERROR_SELECTOR = bytes.fromhex("08c379a0")
_BUILT_IN_KINDS = {"Error(string)": ERROR, "Panic(uint256)": PANICKED}
_BYTES = re.compile(r"\b(bytes|string)\b")  # in the names of types
_BUILT_IN = abi_decoding.index_abi(
    abi_decoding.entries_of("error", ("Error(string message)", "Panic(uint256 code)")), "standard"
)


class Reason(NamedTuple):
    """Why a call failed. `decoded` is the error that the contract reverted with, None where it is
    none or unknown. `data` is the data that the call returned, cut as in CallFailure."""

    kind: str
    sentence: str
    decoded: abi_decoding.Decoded | None = None
    data: bytes = b""
    data_size: int = 0

    @property
    def phrase(self) -> str:
        """The sentence as a part of another one, which says that the call failed."""
        return self.sentence.removeprefix(_REVERTED).removesuffix(".")

    @property
    def predicate(self) -> str:
        """The sentence as what another one says of a call."""
        phrase = self.phrase
        if phrase.startswith("The call "):
            return phrase.removeprefix("The call ")
        is_quoted = self.decoded is not None
        return f"failed: {phrase if is_quoted else phrase[:1].lower() + phrase[1:]}"

    def record(self) -> dict[str, Any]:
        decoded = self.decoded
        return {
            "reason": self.sentence,
            "kind": self.kind,
            "name": None if decoded is None else decoded.name,
            "signature": None if decoded is None else decoded.signature,
            "arguments": None if decoded is None else [a.record() for a in decoded.arguments],
            "source": None if decoded is None else decoded.source,
            "data": to_hex(self.data),
            "dataSize": self.data_size,
        }


def selectors_of(failures: Sequence[CallFailure]) -> set[bytes]:
    """Return the selectors of the failures' custom errors, which imported signatures may decode,
    and of those that may be inside of them."""
    selectors = {failure.data[:4] for failure in failures if len(failure.data) >= 4}
    selectors |= {inner for f in failures for inner in inner_selectors(f.data[4:])}
    return selectors - _BUILT_IN.errors.keys()


def inner_selectors(encoded: bytes) -> Iterator[bytes]:
    """Yield the selectors that errors in encoded arguments may have: words begin with them."""
    words = (encoded[at : at + 4] for at in range(0, min(len(encoded), MAX_INNER_BYTES), 32))
    yield from islice((word for word in words if len(word) == 4 and any(word)), MAX_INNER)


def decode_reason(
    failure: CallFailure,
    abis: Sequence[abi_decoding.AbiIndex],
    imported: Mapping[bytes, Sequence[str]],
    budget: abi_decoding.DecodingBudget,
    passed: Sequence[bytes] = (),
) -> Reason:
    """Decode why a call failed. `abis` are in the order of failure.code_addresses, then those of
    contracts whose errors this one may pass on; `imported` are signatures by selector; `passed` is
    what failed calls inside returned."""
    if failure.kind != REVERT:
        words = f"The node reports: {failure.words}" if failure.kind == OTHER else ""
        return Reason(failure.kind, _SENTENCES.get(failure.kind, words))
    if not failure.data:
        return Reason(NO_REASON, _SENTENCES[NO_REASON])
    kind, decoded = _decoded(failure.data, abis, imported, budget)
    if decoded is not None:
        decoded = InnerErrors(abis, imported, budget, passed).within(decoded, failure.data)
    sentence = _sentence(kind, decoded)
    is_cut = failure.data_size > len(failure.data)
    if is_cut and (text := _cut_text(failure.data)) is not None:
        decoded = abi_decoding.Decoded(
            "Error", "Error(string)", [abi_decoding.Argument("message", "string", text)], "standard"
        )
        size = f"(cut: the contract returned {failure.data_size:,} bytes)"
        sentence = f"{_REVERTED}{text}"[: MAX_SENTENCE - len(size) - 2]
        kind, sentence = ERROR, f"{sentence.removesuffix('…')}… {size}"
    return Reason(kind, sentence, decoded, failure.data, failure.data_size)


def _encoded_text(text: str, returned: bytes) -> bytes:
    """Return the bytes of a text in what a contract returned; none where they are not there."""
    sizes = ((at, int.from_bytes(returned[at - 32 : at])) for at in range(36, len(returned), 32))
    likely = ((at, size) for at, size in sizes if 0 < len(text) <= size <= 4 * len(text))
    for at, size in islice(likely, MAX_INNER):
        if returned[at : at + size].decode("utf-8", "replace") == text:
            return returned[at : at + size]
    return b""


def _cut_text(returned: bytes) -> str | None:
    """Return the beginning of the text where `returned` is a cut Error(string); None otherwise."""
    words, text = returned[4:68], returned[68:]
    is_error = returned[:4] == _ERROR_SELECTOR and words[:32] == (32).to_bytes(32)
    if not is_error or int.from_bytes(words[32:]) <= len(text):
        return None
    return codecs.getincrementaldecoder("utf-8")("replace").decode(text) + "…"


class InnerErrors:
    """Looks for errors in arguments: where bytes, also in arrays and tuples, are exactly the
    encoding of an error that is known, up to MAX_INNER in all, inside of each other, too; and where
    texts have it: what failed calls inside returned (`passed`), or one that has a zero."""

    def __init__(
        self,
        abis: Sequence[abi_decoding.AbiIndex],
        imported: Mapping[bytes, Sequence[str]],
        budget: abi_decoding.DecodingBudget,
        passed: Sequence[bytes] = (),
    ) -> None:
        self._known, self._passed = (abis, imported, budget), passed
        self._left = MAX_INNER

    def in_arguments(
        self, arguments: Iterable[abi_decoding.Argument], returned: bytes = b"", depth: int = 0
    ) -> list[abi_decoding.Argument]:
        """Return arguments with the errors in them; those of an error that was returned with the
        ones in their texts."""
        searched: list[abi_decoding.Argument] = []
        for argument in arguments:
            is_searched = depth < MAX_INNER_DEPTH and _BYTES.search(argument.type)
            listed = _bytes_in(argument) if is_searched and not argument.hashed else ()
            errors: list[tuple[str, abi_decoding.Decoded]] = []
            for path, of in islice(listed, MAX_INNER):
                if isinstance(of, str):
                    errors += self._in_text(path, of, returned, depth)
                elif (inner := self._error_in(of, depth)) is not None:
                    errors.append((path, inner))
            searched.append(argument._replace(errors=errors) if errors else argument)
        return searched

    def within(
        self, decoded: abi_decoding.Decoded, returned: bytes = b"", depth: int = 0
    ) -> abi_decoding.Decoded:
        """Return an error that was returned, or an event, with the errors in its arguments."""
        return decoded._replace(arguments=self.in_arguments(decoded.arguments, returned, depth))

    def _in_text(
        self, path: str, shown: str, returned: bytes, depth: int
    ) -> Iterator[tuple[str, abi_decoding.Decoded]]:
        """Yield the error in a text, at the place where it is in its bytes, if it is not all."""
        if self._left <= 0 or not ("\0" in shown or self._passed):
            return
        self._left -= 1
        text = _encoded_text(shown, returned)
        positions = ((text.find(of), len(of)) for of in self._passed if of)
        passed = ((start, start + size) for start, size in positions if start >= 0)
        for start, end in islice(chain(passed, self._parts_of(text)), MAX_INNER):
            if (inner := self._error_in(text[start:end], depth)) is not None:
                yield path + f"[{start}:{end - len(text) or ''}]".removeprefix("[0:]"), inner
                break

    def _parts_of(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Yield where the encoding of an error may be in a text, which may have words around it."""
        abis, imported, _ = self._known
        known = (_BUILT_IN.errors, imported, *(abi.errors for abi in abis))
        selectors = {*chain.from_iterable(known)} if b"\0" in text else ()
        for start in sorted(at for selector in selectors if (at := text.find(selector)) >= 0):
            last = start + 4 + (len(text) - start - 4) // 32 * 32
            yield from ((start, end) for end in range(last, start, -32))

    def _error_in(self, content: bytes, depth: int) -> abi_decoding.Decoded | None:
        self._left -= 1
        _, error = _decoded(content, *self._known, strict=True) if self._left >= 0 else ("", None)
        return error and self.within(error, content, depth + 1)


def may_pass_on(decoded: abi_decoding.Decoded | None) -> bool:
    """Return whether an argument, also in arrays and tuples, may be an error of which no ABI is
    known yet, or have it in its text, as of require(ok, string(data))."""

    def has_unknown(argument: abi_decoding.Argument) -> bool:
        if argument.hashed or not _BYTES.search(argument.type):
            return False
        known = {path for path, _ in argument.errors}
        listed = islice(_bytes_in(argument), MAX_INNER)
        are_unknown = (
            "\0" in of if isinstance(of, str) else path not in known for path, of in listed
        )
        return any(are_unknown) or any(may_pass_on(error) for _, error in argument.errors)

    return decoded is not None and any(map(has_unknown, decoded.arguments))


def _bytes_in(argument: abi_decoding.Argument) -> Iterator[tuple[str, bytes | str]]:
    """Yield what may be errors in an argument, and its texts, each with its path there."""
    try:
        [type_] = parse_types(parse_signature(f"f({argument.type})")["inputs"])
    except AbiError:
        return
    waiting: list[tuple[AbiType, str, Any]] = [(type_, "", argument.value)]
    while waiting:
        type_, path, value = waiting.pop()
        if type_.kind == "bytes" and isinstance(value, str):
            size = len(value) // 2 - 1
            if size % 32 == 4 and size <= MAX_INNER_BYTES:
                yield path, data(value)
        elif type_.kind == "string":
            yield path, str(value)
        elif type_.kind in ("array", "tuple") and _BYTES.search(type_.name):
            is_named = isinstance(value, dict)
            values = [*value.values()] if is_named else value or ()
            names = [f".{name}" for name in value] if is_named else ()
            paths = names or [f"[{n}]" for n in range(len(values))]
            types = type_.items if type_.kind == "tuple" else type_.items * len(values)
            inside = zip(types, paths, values, strict=True)
            waiting += reversed([(inner, path + at, member) for inner, at, member in inside])


def _decoded(
    returned: bytes,
    abis: Sequence[abi_decoding.AbiIndex],
    imported: Mapping[bytes, Sequence[str]],
    budget: abi_decoding.DecodingBudget,
    *,
    strict: bool = False,
) -> tuple[str, abi_decoding.Decoded | None]:
    selector = returned[:4]
    if selector in _BUILT_IN.errors:  # one value, which needs no budget
        decoded = abi_decoding.decode_error(returned, [_BUILT_IN], strict=strict)
    else:
        signatures = imported.get(selector, ())
        decoded = abi_decoding.decode_error(returned, abis, budget=budget, strict=strict)
        decoded = decoded or abi_decoding.decode_call_by(returned, signatures, budget=budget)
    if decoded is None:
        return UNKNOWN_DATA, None
    return _BUILT_IN_KINDS.get(decoded.signature, CUSTOM), decoded


def _sentence(kind: str, decoded: abi_decoding.Decoded | None) -> str:
    if decoded is None:
        return "The call reverted with data that no known ABI decodes."
    if kind == ERROR:
        [message] = decoded.arguments
        text = _text(message)
        if not text.strip():
            return _EMPTY_TEXT
        return f"{_REVERTED}{text}"[:MAX_SENTENCE]
    if kind == PANICKED:
        code = int(decoded.arguments[0].value)
        meaning = _PANICS.get(f"0x{code:02x}", "unknown code")
        return f"{_REVERTED}panic 0x{code:02x} ({meaning})"
    values = ", ".join(map(_labelled, decoded.arguments))
    return f"{_REVERTED}{decoded.name}({values})"[:MAX_SENTENCE]


def _text(argument: abi_decoding.Argument) -> str:
    """Return a text with words in place of the bytes of the error that it has."""
    text = str(argument.value)
    for path, inner in argument.errors:
        start, _, end = path.strip("[]").partition(":")
        before, after = text.encode()[: int(start or 0)], text.encode()[int(end) :] if end else b""
        text = before.decode("utf-8", "replace") + _inner_words(inner)
        text += after.decode("utf-8", "replace")
    return text.replace("\0", "")


def _labelled(argument: abi_decoding.Argument) -> str:
    """Return an argument with its name; of lists and structures that have errors these alone."""
    if argument.type == "string":
        return _named(argument.name, _text(argument))
    if not argument.errors:
        is_text = isinstance(argument.value, str)
        value = argument.value if is_text else orjson.dumps(argument.value).decode()
        return _named(argument.name, value)
    shown = ((f"{argument.name}{path}", inner) for path, inner in argument.errors)
    return ", ".join(_named(name, _inner_words(inner)) for name, inner in shown)


def _inner_words(inner: abi_decoding.Decoded) -> str:
    sentence = _sentence(_BUILT_IN_KINDS.get(inner.signature, CUSTOM), inner)
    return "an empty text" if sentence == _EMPTY_TEXT else sentence.removeprefix(_REVERTED)


def _named(name: str, value: str) -> str:
    value = value if len(value) <= MAX_ARGUMENT else f"{value[:MAX_ARGUMENT]}…"
    return f"{name}={value}" if name else value
