"""Terms: values of a run that the code alone does not have, such as a word of the storage, and what
the EVM computes of them; and their numbers, once what they are made of is known."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from scan.ethereum.rlp_and_tries import keccak256

MAX_DEPTH = 60  # of terms in terms
MAX_LEAVES = 24
WORD = 2**256


class TooComplex(Exception):
    """A term would have too many others in it."""


class Varies(Exception):
    """What a term depends on is not of the chain's state. The argument names it."""


class Term:
    """A value: an EVM opcode with its operands, or a name with what it is of:

    - `input`, the call's data, and `size`, its length; `caller`, `address`, `chain_id`
    - `slot`: the word in a slot of the storage
    - `answer`: what a contract returns for an input, `delegated`: what its code does here,
      `failure`: what it returns where it fails; `answered`, whether it does not, `answer_size`
    - `assumed`, `assumed_least` and `answer_known`: whether an answer has a size, has no less, and
      is known: ways on which they are not have not been followed
    - `code`: what stands in the code from a place on that the call's data says
    - `bytes`: a number of up to 32 bytes, `hash`: one of bytes; both of parts
    - `memory_size` and `returned_size`, with a number that is assumed where a number is needed
    - `varies`: what differs from call to call or from block to block, by its name in words

    A part is bytes, or the bytes of a term from one to another. Terms are equal where they are the
    same. `leaves` are those that it is computed of.
    """

    __slots__ = ("args", "depth", "leaves", "op", "weight")

    def __init__(self, op: int | str, args: tuple[Any, ...]) -> None:
        """Raises TooComplex."""
        inner = [*inner_terms(args)]
        self.op, self.args = op, args
        self.depth: int
        self.weight: int
        self.depth = 1 + max((term.depth for term in inner), default=0)
        self.weight = min(1 + sum(term.weight for term in inner), 100_000)
        is_made = isinstance(op, int) or op in ("bytes", "hash")
        self.leaves: frozenset[Term] = (
            frozenset().union(*(term.leaves for term in inner)) if is_made else frozenset((self,))
        )
        if self.depth > MAX_DEPTH or len(self.leaves) > MAX_LEAVES:
            raise TooComplex

    @property
    def kinds(self) -> set[int | str]:
        """The names of what it is made of."""
        return {leaf.op for leaf in self.leaves}


Word = int | Term
Part = bytes | tuple[Term, int, int]
Cells = Mapping[int, tuple[Term, int]]  # bytes of terms by their place


def inner_terms(args: Iterable[Any]) -> Iterable[Term]:
    for arg in args:
        if isinstance(arg, Term):
            yield arg
        elif isinstance(arg, tuple):
            yield arg[0]


def parts_of(data: bytes, cells: Cells, start: int) -> tuple[Part, ...]:
    """Return the parts of bytes from a place on, some of which are of terms."""
    parts: list[Any] = []
    begins = 0  # of bytes that are of no term
    for i in range(len(data)):
        cell = cells.get(start + i)
        if cell is None:
            continue
        if begins < i:
            parts.append(data[begins:i])
        begins = i + 1
        last = parts[-1] if parts else None
        if isinstance(last, tuple) and (last[0], last[2]) == cell:
            parts[-1] = (*last[:2], last[2] + 1)
        else:
            parts.append((*cell, cell[1] + 1))
    return (*parts, data[begins:]) if begins < len(data) or not parts else tuple(parts)


def _signed(value: int) -> int:
    return value - WORD if value >> 255 else value


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0


def _remainder(a: int, b: int) -> int:
    return abs(a) % abs(b) * (-1 if a < 0 else 1) if b else 0


def _extended(n: int, a: int) -> int:
    bits = 8 * min(n, 31) + 8
    return (a & (1 << bits) - 1) - (1 << bits) if a >> bits - 1 & 1 else a & (1 << bits) - 1


ADD, LT, GT, EQ, ISZERO, AND, XOR, SUB = 0x01, 0x10, 0x11, 0x14, 0x15, 0x16, 0x18, 0x03
MOD, EXP = 0x06, 0x0A
# What opcodes compute of numbers, the top of the stack first, modulo 2^256.
OPERATIONS: dict[int, Callable[..., int]] = {
    0x01: lambda a, b: a + b,
    0x02: lambda a, b: a * b,
    SUB: lambda a, b: a - b,
    0x04: lambda a, b: a // b if b else 0,
    0x05: lambda a, b: _quotient(_signed(a), _signed(b)),
    MOD: lambda a, b: a % b if b else 0,
    0x07: lambda a, b: _remainder(_signed(a), _signed(b)),
    0x08: lambda a, b, n: (a + b) % n if n else 0,
    0x09: lambda a, b, n: a * b % n if n else 0,
    EXP: lambda a, b: pow(a, b, WORD),
    0x0B: _extended,
    LT: lambda a, b: int(a < b),
    GT: lambda a, b: int(a > b),
    0x12: lambda a, b: int(_signed(a) < _signed(b)),
    0x13: lambda a, b: int(_signed(a) > _signed(b)),
    EQ: lambda a, b: int(a == b),
    ISZERO: lambda a: int(a == 0),
    AND: lambda a, b: a & b,
    0x17: lambda a, b: a | b,
    XOR: lambda a, b: a ^ b,
    0x19: lambda a: ~a,
    0x1A: lambda n, a: a >> 8 * (31 - n) & 0xFF if n < 32 else 0,
    0x1B: lambda n, a: a << n if n < 256 else 0,
    0x1C: lambda n, a: a >> n if n < 256 else 0,
    0x1D: lambda n, a: _signed(a) >> min(n, 256),
    0x1E: lambda a: 256 - a.bit_length(),
}
ARITIES = {op: compute.__code__.co_argcount for op, compute in OPERATIONS.items()}


def computed(op: int, operands: Sequence[Word]) -> int | Term | None:
    """Return what an opcode computes where it is a number, or one of the operands; else None."""
    if not any(isinstance(operand, Term) for operand in operands):
        return OPERATIONS[op](*operands) % WORD
    if len(operands) == 2:
        a, b = operands
        if a is b and op in (SUB, XOR, EQ):
            return int(op == EQ)
        if 0 in (a, b) and op in (AND, 0x02):
            return 0
        if (a == 0 and op in (0x01, 0x17, XOR, 0x1B, 0x1C)) or (a == 1 and op == 0x02):
            return b
        if (b == 0 and op in (0x01, 0x17, XOR, SUB)) or (b == 1 and op in (0x02, 0x04)):
            return a
    return None


def bare(condition: Term) -> tuple[Term, bool]:
    """Return what a condition is of without comparisons with zero, and whether it is negated."""
    is_negated = False
    while True:
        op, args = condition.op, condition.args
        if op == ISZERO:
            condition, is_negated = args[0], not is_negated
        elif op == EQ and 0 in args:
            condition, is_negated = args[args[0] == 0], not is_negated
        elif (op == LT and args[0] == 0) or (op == GT and args[1] == 0):
            condition = args[op == LT]
        else:
            return condition, is_negated


def equality(condition: Term) -> tuple[Term, int, bool] | None:
    """Return what a bare condition compares with which number, and whether the condition is true
    where they are equal; None where it does not."""
    if condition.op in (EQ, XOR, SUB, ADD):
        a, b = condition.args
        if isinstance(a, int) != isinstance(b, int):
            of, number = (b, a) if isinstance(a, int) else (a, b)
            return of, -number % 2**256 if condition.op == ADD else number, condition.op == EQ
    return None


class Values:
    """The numbers of terms, by those of their leaves, each computed once. `leaf` raises Varies of
    what is not known."""

    def __init__(
        self,
        leaf: Callable[[Term, "Values"], int | bytes],
        known: Mapping[Term, int] = MappingProxyType({}),
    ) -> None:
        self._leaf = leaf
        self._known: dict[Term, int | bytes | Varies] = {**known}

    def number(self, word: Word) -> int:
        if isinstance(word, int):
            return word
        value = self.value(word)
        return value if isinstance(value, int) else int.from_bytes(value[:32].ljust(32, b"\0"))

    def value(self, term: Term) -> int | bytes:
        if term not in self._known:
            try:
                self._known[term] = self._compute(term)
            except Varies as error:
                self._known[term] = error
        value = self._known[term]
        if isinstance(value, Varies):
            raise value
        return value

    def _compute(self, term: Term) -> int | bytes:
        if isinstance(term.op, int):
            return OPERATIONS[term.op](*map(self.number, term.args)) % WORD
        if term.op in ("bytes", "hash"):
            data = self.joined(term.args)
            return int.from_bytes(keccak256(data) if term.op == "hash" else data)
        return self._leaf(term, self)

    def joined(self, parts: Sequence[Part]) -> bytes:
        return b"".join(part if isinstance(part, bytes) else self._slice(*part) for part in parts)

    def _slice(self, term: Term, first: int, end: int) -> bytes:
        value = self.value(term)
        data = value if isinstance(value, bytes) else value.to_bytes(32)
        return data[first:end].ljust(end - first, b"\0")
