"""What precompiled contracts were given and returned: 0x01 to 0x11 and 0x100 (Ethereum's
execution-specs; EIP-152, 196, 197, 198, 2537, 4844, 7951).

A call is read where its sizes are those of the contract: on a chain that has no such contract, a
call of its address succeeds and returns nothing. As in the protocol, input that ends early goes on
with zeros where the contract allows it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from scan.contracts.abi_decoding import Argument, Decoded
from scan.extensions.traces.traces import is_creation
from scan.extensions.traces.transaction_traces import TraceFrame
from scan.hex import to_hex

SOURCE = "protocol"
WORD = 32
MAX_VALUE_BYTES = 1024  # of a value that is shown; as EIP-7823 bounds modexp's numbers
G1, G2, FIELD, SCALAR = 128, 256, 64, 32  # bytes, in EIP-2537's encoding

Arguments = Sequence[Argument]
Reader = Callable[[bytes, int], Arguments | None]  # of content that may be cut, and its size


class _Precompile(NamedTuple):
    """`read` returns the arguments of an input, None of one that the contract refuses; `returned`
    those of an output, None of one that it does not return. `least_gas` is what any call of it
    takes, where an output may be empty."""

    name: str
    read: Reader
    returned: Reader
    least_gas: int = 0


def decode(frame: TraceFrame) -> tuple[Decoded | None, Arguments | None]:
    """Return what a precompiled contract was given, and what it returned; None and None of another
    call, and of one that does not fit the contract."""
    precompile = PRECOMPILES.get(int.from_bytes(frame.to_address or b"\xff" * 20, "big"))
    if precompile is None or is_creation(frame.type):
        return None, None
    arguments = precompile.read(frame.input, frame.input_size)
    result = None
    if frame.failure is None:
        if frame.output_size != 0 or (frame.gas_used or 0) >= precompile.least_gas:
            result = precompile.returned(frame.output, frame.output_size)
        if result is None:
            return None, None
    if arguments is None:
        return None, None
    types = ",".join(argument.type for argument in arguments)
    signature = f"{precompile.name}({types})"
    return Decoded(precompile.name, signature, arguments, SOURCE), result


def _number(name: str, content: bytes) -> Argument:
    """Return a number in decimals up to the size of a word, in hex beyond it."""
    if len(content) <= WORD:
        return Argument(name, "uint256", str(int.from_bytes(content, "big")))
    return Argument(name, "bytes", to_hex(content[:MAX_VALUE_BYTES]))


def _bytes(name: str, content: bytes) -> Argument:
    of_size = f"bytes{len(content)}" if 0 < len(content) <= WORD else "bytes"
    return Argument(name, of_size, to_hex(content))


def _count(name: str, number: int) -> Argument:
    return Argument(name, "uint256", str(number))


def _words(*names: str) -> Reader:
    """Return a reader of numbers of a word each, without those after the last."""

    def read(content: bytes, size: int) -> Arguments | None:
        if len(content) < min(size, WORD * len(names)):
            return None
        padded = content.ljust(WORD * len(names), b"\0")
        return [
            _number(name, padded[WORD * index : WORD * (index + 1)])
            for index, name in enumerate(names)
        ]

    return read


def _fields(*sizes: tuple[str, int]) -> Reader:
    """Return a reader of content of exactly these fields, which are bytes."""
    whole = sum(size for _, size in sizes)

    def read(content: bytes, size: int) -> Arguments | None:
        if size != whole or len(content) < whole:
            return None
        start, arguments = 0, []
        for name, length in sizes:
            arguments.append(_bytes(name, content[start : start + length]))
            start += length
        return arguments

    return read


def _several(name: str, of_one: int, *, least: int = 1) -> Reader:
    """Return a reader of how many things of a size there are."""

    def read(content: bytes, size: int) -> Arguments | None:
        is_whole = size % of_one == 0 and size // of_one >= least
        return [_count(name, size // of_one)] if is_whole else None

    return read


def _length(content: bytes, size: int) -> Arguments:
    return [_count("length", size)]


def _exactly(size: int, read: Reader) -> Reader:
    return lambda content, whole: read(content, whole) if whole == size else None


def _flag(name: str) -> Reader:
    def read(content: bytes, size: int) -> Arguments | None:
        if size != WORD or len(content) < WORD:
            return None
        value = int.from_bytes(content, "big")
        return [Argument(name, "bool", bool(value))] if value in (0, 1) else None

    return read


def _signed(content: bytes, size: int) -> Arguments | None:
    if len(content) < min(size, 4 * WORD):
        return None
    padded = content.ljust(4 * WORD, b"\0")
    hash_, v, r, s = (padded[start : start + WORD] for start in range(0, 4 * WORD, WORD))
    return [_bytes("hash", hash_), _number("v", v), _bytes("r", r), _bytes("s", s)]


def _signer(content: bytes, size: int) -> Arguments | None:
    if size == 0:
        return [Argument("valid", "bool", False)]
    is_address = size == WORD and len(content) == WORD and not any(content[:12])
    return [Argument("signer", "address", to_hex(content[12:]))] if is_address else None


def _ripemd(content: bytes, size: int) -> Arguments | None:
    is_digest = size == WORD and len(content) == WORD and not any(content[:12])
    return [_bytes("digest", content[12:])] if is_digest else None


def _powers(content: bytes, size: int) -> Arguments | None:
    """Read modexp's base, exponent and modulus, whose sizes the input begins with. Numbers that the
    trace does not have whole, or that are longer than is shown, are left out."""
    if len(content) < min(size, 3 * WORD):
        return None
    padded = content.ljust(3 * WORD, b"\0")
    sizes = [int.from_bytes(padded[start : start + WORD], "big") for start in (0, 32, 64)]
    arguments = [
        _count(f"{name}Length", length)
        for name, length in zip(("base", "exponent", "modulus"), sizes, strict=True)
    ]
    start = 3 * WORD
    for name, length in zip(("base", "exponent", "modulus"), sizes, strict=True):
        if length <= MAX_VALUE_BYTES and len(content) >= min(size, start + length):
            arguments.append(_number(name, content[start : start + length].ljust(length, b"\0")))
        start += length
    return arguments


def _power(content: bytes, size: int) -> Arguments:
    is_whole = len(content) == size and size <= MAX_VALUE_BYTES
    return [_number("result", content)] if is_whole else [_count("length", size)]


def _blake(content: bytes, size: int) -> Arguments | None:
    if size != 213 or len(content) < size or content[212] > 1:
        return None
    return [
        _count("rounds", int.from_bytes(content[:4], "big")),
        _bytes("h", content[4:68]),
        _bytes("m", content[68:196]),
        _count("offset", int.from_bytes(content[196:212], "little")),
        Argument("final", "bool", content[212] == 1),
    ]


def _verified(content: bytes, size: int) -> Arguments | None:
    return [Argument("valid", "bool", False)] if size == 0 else _flag("valid")(content, size)


_POINT, _DIGEST = _words("x", "y"), _fields(("digest", WORD))

PRECOMPILES: Mapping[int, _Precompile] = {
    0x01: _Precompile("ecrecover", _signed, _signer, 3_000),
    0x02: _Precompile("sha256", _length, _DIGEST),
    0x03: _Precompile("ripemd160", _length, _ripemd),
    0x04: _Precompile("identity", _length, _length),
    0x05: _Precompile("modexp", _powers, _power, 200),
    0x06: _Precompile("bn254Add", _words("x1", "y1", "x2", "y2"), _exactly(64, _POINT)),
    0x07: _Precompile("bn254Mul", _words("x", "y", "scalar"), _exactly(64, _POINT)),
    0x08: _Precompile("bn254Pairing", _several("pairs", 192, least=0), _flag("isOne")),
    0x09: _Precompile("blake2f", _blake, _fields(("h", 64))),
    0x0A: _Precompile(
        "pointEvaluation",
        _fields(("versionedHash", 32), ("z", 32), ("y", 32), ("commitment", 48), ("proof", 48)),
        _exactly(64, _words("fieldElementsPerBlob", "blsModulus")),
    ),
    0x0B: _Precompile("bls12G1Add", _fields(("a", G1), ("b", G1)), _fields(("sum", G1))),
    0x0C: _Precompile("bls12G1Msm", _several("pairs", G1 + SCALAR), _fields(("sum", G1))),
    0x0D: _Precompile("bls12G2Add", _fields(("a", G2), ("b", G2)), _fields(("sum", G2))),
    0x0E: _Precompile("bls12G2Msm", _several("pairs", G2 + SCALAR), _fields(("sum", G2))),
    0x0F: _Precompile("bls12Pairing", _several("pairs", G1 + G2), _flag("isOne")),
    0x10: _Precompile("bls12MapFpToG1", _fields(("element", FIELD)), _fields(("point", G1))),
    0x11: _Precompile("bls12MapFp2ToG2", _fields(("element", 2 * FIELD)), _fields(("point", G2))),
    0x100: _Precompile(
        "p256Verify",
        _fields(("hash", 32), ("r", 32), ("s", 32), ("x", 32), ("y", 32)),
        _verified,
        3_450,
    ),
}
