"""Keys that mappings may have: those of a transaction, by the words of its calls and logs and by
what its contracts hashed, and those that a request names. A slot says nothing of its key, of which
it is a hash.

A key that a contract computes, or reads from its storage, is in no argument or log: a tracer in
JavaScript finds it, where the node runs one (geth, Erigon, reth, anvil).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scan.cached_values import cached_property
from scan.errors import InvalidParameter
from scan.ethereum.request_node import NodeSession
from scan.ethereum.rlp_and_tries import keccak256
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.explanations.storage import slots
from scan.extensions.explanations.storage.layout import WORD, Layout, StorageType
from scan.extensions.traces.step_traces import bounded
from scan.extensions.traces.transaction_traces import LIST, TraceFrame, TraceKind, TransactionTraces
from scan.hex import BadHex, data, to_hex
from scan.parameters import LONGEST_NAME

MAX_WORDS = 2_000  # of a transaction that are tried
MAX_TEXTS = 100
MAX_TEXT = 256  # bytes of a string that is tried
MAX_INDICES = 16  # of arrays whose elements have mappings or strings
ADDRESS_BYTES = 20
LAST_SMALL = 0xFFFF  # numbers up to it are no addresses, but for the zero address


class Key(NamedTuple):
    """A key as it is shown, and the bytes that are hashed."""

    text: str
    encoded: bytes


def slot_of(layout: Layout, mapping: int, type_: StorageType, key: Key) -> int:
    """Return the slot of a mapping's value."""
    at, encoded = mapping.to_bytes(WORD), key.encoded
    if layout.is_vyper:
        inner = keccak256(encoded) if type_.kind == "bytes" else encoded
        return int.from_bytes(keccak256(at + inner))
    return int.from_bytes(keccak256(encoded + at))


class Candidates:
    """Keys that may have been used, those likelier first."""

    def __init__(self, words: Iterable[bytes], texts: Iterable[bytes] = ()) -> None:
        self._words = [*dict.fromkeys(words)][:MAX_WORDS]
        self._texts = [*dict.fromkeys(texts)][:MAX_TEXTS]
        self._by_label: dict[tuple[str, int], Sequence[Key]] = {}

    def after(self, hashed: Sequence[bytes]) -> "Candidates":
        """Return candidates with those in values that were hashed, which are likelier: a key and a
        slot, in Vyper the other way round."""
        words = [value[at : at + WORD] for at in (0, WORD) for value in hashed if len(value) == 64]
        texts = [value[:-WORD] for value in hashed]
        return Candidates([*words, *self._words], [*texts, *self._texts])

    @property
    def count(self) -> int:
        return len(self._words)

    def of(self, type_: StorageType, *, is_vyper: bool) -> Sequence[Key]:
        """Return the candidates of a type."""
        label_and_size = (type_.label, type_.size)
        if label_and_size not in self._by_label:
            self._by_label[label_and_size] = [*self._of(type_, is_vyper)]
        return self._by_label[label_and_size]

    @cached_property
    def indices(self) -> Sequence[int]:
        """Places in arrays: the first ones, and those that candidates name."""
        numbers = [n for word in self._words if (n := int.from_bytes(word)) < 2**32]
        near = [n for number in numbers for n in (number, number - 1) if n >= 0]
        return [*dict.fromkeys((0, *near, *range(MAX_INDICES)))][:MAX_INDICES]

    def _of(self, type_: StorageType, is_vyper: bool) -> Iterator[Key]:
        label = type_.label
        if type_.kind == "bytes":
            yield from (Key(_quoted(slots.text_of(label, text)), text) for text in self._texts)
            return
        if type_.kind not in ("value", "unknown"):
            return
        if label == "bool" or label.startswith("enum "):
            first = map(_word, range(2 if label == "bool" else len(type_.names) or 8))
            words = [*dict.fromkeys([*first, *self._words])]
        elif slots.is_number(label) or label == "decimal":
            words = sorted(self._words, key=lambda word: any(word[:24]))
        elif slots.is_fixed_bytes(label):
            words = sorted(self._words, key=lambda word: not any(word[:8]))
        else:
            words = self._words
        for word in words:
            if _fits(type_, word):
                yield Key(str(_shown(type_, word, is_vyper=is_vyper)), word)


def _is_declared(type_: StorageType) -> bool:
    """Return whether a source declares a type of which the layout does not say whether it is a
    number, at the end of a word, or bytes, at its beginning. Vyper's are all numbers."""
    return type_.kind == "value" and not slots.is_elementary(type_.label)


def _fits(type_: StorageType, word: bytes) -> bool:
    label, size = type_.label, min(type_.size, WORD)
    if _is_declared(type_):  # the word has a value of it, whatever it is
        rest = WORD - size
        is_negative = word[:rest] == b"\xff" * rest and word[rest] >= 0x80
        return not any(word[:rest]) or not any(word[size:]) or is_negative
    if label == "bool" or type_.names:
        return int.from_bytes(word) < (len(type_.names) or 2)
    if slots.is_fixed_bytes(label):
        return not any(word[int(label.removeprefix("bytes")) :])
    if slots.is_address(label):
        return not any(word[:12]) and not 0 < int.from_bytes(word) <= LAST_SMALL
    bits = int("".join(filter(str.isdigit, label)) or 0) if slots.is_number(label) else 8 * size
    if label.startswith(("enum ", "flag ")):
        bits = 8 * size
    number = int.from_bytes(word, signed=slots.is_signed(label))
    if slots.is_signed(label):
        return (number if number >= 0 else ~number).bit_length() < bits
    return number.bit_length() <= bits


def _shown(type_: StorageType, word: bytes, *, is_vyper: bool) -> object:
    if _is_declared(type_):
        return to_hex(word)  # as a request has to name it
    if type_.names:
        return type_.names[int.from_bytes(word)]
    size = min(type_.size, WORD)
    value = word[:size] if slots.is_fixed_bytes(type_.label) else word[WORD - size :]
    decoded = slots.value_of(type_.label, word if is_vyper else value, is_vyper=is_vyper)
    return str(decoded).lower() if isinstance(decoded, bool) else decoded


def _quoted(text: str) -> str:
    return text if text.startswith("0x") else json.dumps(text, ensure_ascii=False)


def _word(number: int) -> bytes:
    return number.to_bytes(WORD)


def candidates_of(frames: Sequence[TraceFrame], changed: Iterable[bytes]) -> Candidates:
    """Return the candidates of a trace, and of words that slots had or have."""
    parties, topics, inputs, others = [], [], [], []
    texts: list[bytes] = []
    for frame in frames:
        parties += [_padded(a) for a in (frame.from_address, frame.to_address) if a is not None]
        inputs += [*_words(frame.input[4:]), frame.input[:4].ljust(WORD, b"\0")]
        others += [_word(frame.value), *_words(frame.output)]
        texts += _texts(frame.input[4:])
        for log in frame.logs or ():
            topics += [_padded(log.address), *log.topics[1:]]
            others += _words(log.data)
            texts += _texts(log.data)
    zero = bytes(WORD)
    return Candidates([*parties[:2], *topics, *inputs, *parties, zero, *others, *changed], texts)


def _padded(address: bytes) -> bytes:
    return address.rjust(WORD, b"\0")


def _words(content: bytes) -> Iterator[bytes]:
    for at in range(0, min(len(content) - WORD + 1, MAX_WORDS * WORD), WORD):
        yield content[at : at + WORD]


def _texts(content: bytes) -> Iterator[bytes]:
    """Yield what may be strings: a length, and as many bytes after it."""
    for at in range(0, min(len(content) - WORD, MAX_WORDS * WORD), WORD):
        length = int.from_bytes(content[at : at + WORD])
        text = content[at + WORD : at + WORD + length] if 0 < length <= MAX_TEXT else b""
        if text and len(text) == length:
            yield text


def key_of(type_: StorageType, text: str) -> Key:
    """Return the key that a request names; raises InvalidParameter."""
    if _is_declared(type_) and not _WHOLE_WORD.match(text):
        message = (
            f"The layout does not say what type {type_.label[:LONGEST_NAME]} is of: its keys have"
            " to be given as 32 bytes (0x and 64 hex digits), as they are encoded."
        )
        raise InvalidParameter(message, field="variable")
    try:
        return Key(text, _encoded(type_, text))
    except (ValueError, OverflowError, BadHex):
        message = f"{text[:LONGEST_NAME]} is no key of type {type_.label}."
        raise InvalidParameter(message, field="variable") from None


_WHOLE_WORD = re.compile(r"0x[0-9a-fA-F]{64}\Z")
_WORDS: Mapping[str, int] = {"true": 1, "false": 0}


def _encoded(type_: StorageType, text: str) -> bytes:
    if type_.kind == "bytes":
        is_text = type_.label.lower().startswith("string")
        if text.startswith('"'):
            return str(json.loads(text)).encode()
        return text.encode() if is_text else data(text)
    label = type_.label
    if _is_declared(type_):
        return data(text, WORD)
    if text in type_.names:
        return _word(type_.names.index(text))
    if slots.is_address(label):
        return data(text, ADDRESS_BYTES).rjust(WORD, b"\0")
    if slots.is_fixed_bytes(label) or text.startswith("0x"):
        raw = data(text if len(text) % 2 == 0 or text[:2] != "0x" else f"0x0{text[2:]}")
        size = int(label.removeprefix("bytes")) if slots.is_fixed_bytes(label) else WORD
        if len(raw) > size or (slots.is_fixed_bytes(label) and len(raw) < size):
            raise ValueError
        word = raw.ljust(WORD, b"\0") if slots.is_fixed_bytes(label) else raw.rjust(WORD, b"\0")
    elif label == "bool":
        word = _word(_WORDS[text] if text in _WORDS else int(text))
    elif label == "decimal":
        word = slots.decimal_of(text).to_bytes(WORD, signed=True)
    else:
        word = int(text).to_bytes(WORD, signed=slots.is_signed(label))
    if not _fits(type_, word):
        raise ValueError
    return word


# A step takes the tracer some us; a million gas may be 240,000 steps.
MAX_GAS = 1_500_000
MAX_MS = 1_000
MAX_VALUES = 1_000
MOST_BYTES = 320  # of one that is kept: a key and a slot have 64, a string as a key more
TIMEOUT_S = 3.0
ENTRY_BYTES = 100
CACHE_BYTES = 4 * 1024 * 1024

_TRACER = Path(__file__).with_name("hashed_values.js").read_text(encoding="utf-8")
TRACER = bounded(_TRACER, MAX_MS, MAX_VALUES=MAX_VALUES, MOST_BYTES=MOST_BYTES)
WAYS = (("debug_traceTransaction", TRACER),)
HashedValues = Sequence[bytes]


def read_values(answer: Sequence[Any]) -> HashedValues:
    """Read the tracer's result. Raises BadHex, ValueError where it is malformed."""
    values = [data(value) for value in answer[:MAX_VALUES]]
    if any(len(value) > MOST_BYTES for value in values):
        raise ValueError("a value is longer than the tracer returns")
    return values


def _size_of(values: HashedValues) -> int:
    return ENTRY_BYTES + sum(ENTRY_BYTES + len(value) for value in values)


HASHED_VALUES = TraceKind("hashed", WAYS, (LIST,), read_values, _size_of, CACHE_BYTES)


def read(
    traces: TransactionTraces, node: NodeSession, sent: IndexedTransaction, gas_used: int
) -> HashedValues:
    """Return what contracts hashed in a transaction; nothing of one above MAX_GAS. Raises as
    TransactionTraces.read() does."""
    if gas_used > MAX_GAS:
        return ()
    values: HashedValues = traces.read(node.within(TIMEOUT_S), sent, HASHED_VALUES)
    return values
