"""Where code passes a call on: a bounded run of the code itself, in a small interpreter of the EVM.

A run knows nothing of the chain: it is given what it reads. It has a budget of steps and of memory,
as its code may be hostile, and ends at instructions that no way to a delegate needs.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from scan.ethereum.rlp_and_tries import keccak256

BUDGET = 6_000  # steps, and words of memory that they touch
MAX_MEMORY = 128 * 1024
MAX_INPUT = 1024  # of a call of another contract
MAX_READS = 8
# PUSH1 to PUSH32 with their data, which the code may cut short.
PUSH = b"|".join(re.escape(bytes([0x5F + n])) + b".{0,%d}" % n for n in range(1, 33))
_PUSH = re.compile(PUSH, re.DOTALL)
_WORD = 2**256


class Read(NamedTuple):
    """What a run reads of the chain: the answer of the contract `to` to `input`, or, with an empty
    `to`, the contract's own slot `input`."""

    to: bytes
    input: bytes


# Returns a word or what was returned, None where a call fails.
Answer = Callable[[Read], bytes | None]


class _Ended(Exception):
    """The run has ended, or may not go on."""


class Run:
    """A run of code for a call. `target` is the contract to which it passed the whole input on by
    DELEGATECALL, None where it did not; `reads` were made before. `end` is where the code ends that
    ran until then, and after a success."""

    def __init__(
        self, code: bytes, input_: bytes, address: bytes, sender: bytes, answer: Answer
    ) -> None:
        """Run code at an address. An exception of `answer` is passed on."""
        self.target: bytes | None = None
        self.reads: list[Read] = []
        self.end = 0
        self.code, self.input, self._answer = code, input_, answer
        self.address, self.sender = int.from_bytes(address), int.from_bytes(sender)
        self.stored: dict[int, int] = {}
        self.returned = b""
        self.memory = bytearray()
        self._destinations: bytes | None = None
        self.position, self._left = 0, BUDGET
        with suppress(_Ended, IndexError):
            self._run()

    def _run(self) -> None:
        stack: list[int] = []
        while True:
            at, opcode = self.position, self.code[self.position]
            self.spend(1)
            size = opcode - 0x5F if 0x5F <= opcode <= 0x7F else 0
            self.position = at + 1 + size
            self.end = max(self.end, self.position)
            if 0x5F <= opcode <= 0x7F:
                stack.append(self.word(self.code, at + 1, size))
            elif 0x80 <= opcode <= 0x8F:
                stack.append(stack[0x7F - opcode])
            elif 0x90 <= opcode <= 0x9F:
                stack[-1], stack[0x8E - opcode] = stack[0x8E - opcode], stack[-1]
            elif opcode in _OPERATIONS:
                operands = [stack.pop() for _ in range(_ARITIES[opcode])]
                result = _OPERATIONS[opcode](self, *operands)
                if result is not None:
                    stack.append(result % _WORD)
            else:
                raise _Ended

    def spend(self, cost: int) -> None:
        self._left -= cost
        if self._left < 0:
            raise _Ended

    def word(self, source: bytes, start: int, size: int = 32) -> int:
        return int.from_bytes(source[start : start + size].ljust(size, b"\0"))

    def view(self, start: int, size: int) -> bytes:
        """Return a part of the memory, which is there from then on."""
        if size and start + size > MAX_MEMORY:
            raise _Ended
        self.spend(size // 32)
        words = -(-(start + size) // 32) if size else 0
        self.memory.extend(bytes(max(words * 32 - len(self.memory), 0)))
        return bytes(self.memory[start : start + size]) if size else b""

    def copy(self, source: bytes, to: int, start: int, size: int) -> None:
        """Copy a part of a source, which zeros follow, into the memory."""
        if self.view(to, size):
            self.memory[to : to + size] = source[start : start + size].ljust(size, b"\0")

    def jump(self, destination: int) -> None:
        if self._destinations is None:
            self._destinations = _PUSH.sub(lambda push: bytes(len(push[0])), self.code)
        if self._destinations[destination : destination + 1] != b"\x5b":
            raise _Ended
        self.position = destination

    def read(self, to: bytes, input_: bytes) -> bytes | None:
        if self.target is not None or len(self.reads) == MAX_READS:  # nothing that follows matters
            raise _Ended
        self.reads.append(Read(to, input_))
        return self._answer(self.reads[-1])

    def load(self, slot: int) -> int:
        if slot not in self.stored:
            self.stored[slot] = self.word(self.read(b"", slot.to_bytes(32)) or b"", 0)
        return self.stored[slot]

    def call(self, to: int, start: int, size: int, out: int, out_size: int) -> int:
        """Return whether another contract answers."""
        if size > MAX_INPUT:
            raise _Ended
        answer = self.read((to % 2**160).to_bytes(20), self.view(start, size))
        self.returned = answer or b""
        self.copy(self.returned, out, 0, min(out_size, len(self.returned)))
        return answer is not None

    def delegate(self, to: int, start: int, size: int) -> int:
        if self.target is not None or not self.view(start, size).startswith(self.input):
            raise _Ended
        self.target, self.returned = (to % 2**160).to_bytes(20), b""
        return 1


def _signed(value: int) -> int:
    return value - _WORD if value >> 255 else value


def _power(run: Run, base: int, exponent: int) -> int:
    run.spend(40)
    return pow(base, exponent, _WORD)


def _returned(run: Run, to: int, start: int, size: int) -> None:
    if start + size > len(run.returned):
        raise _Ended
    run.copy(run.returned, to, start, size)


# What an instruction does with its operands, the top of the stack first, and pushes. A call has no
# coin, its block is of no chain, every account has code, and transient storage is empty.
_OPERATIONS: dict[int, Callable[..., Any]] = {
    0x01: lambda _, a, b: a + b,
    0x02: lambda _, a, b: a * b,
    0x03: lambda _, a, b: a - b,
    0x04: lambda _, a, b: a // b if b else 0,
    0x06: lambda _, a, b: a % b if b else 0,
    0x0A: _power,
    0x10: lambda _, a, b: int(a < b),
    0x11: lambda _, a, b: int(a > b),
    0x12: lambda _, a, b: int(_signed(a) < _signed(b)),
    0x13: lambda _, a, b: int(_signed(a) > _signed(b)),
    0x14: lambda _, a, b: int(a == b),
    0x15: lambda _, a: int(a == 0),
    0x16: lambda _, a, b: a & b,
    0x17: lambda _, a, b: a | b,
    0x18: lambda _, a, b: a ^ b,
    0x19: lambda _, a: ~a,
    0x1A: lambda _, n, a: a >> 8 * (31 - n) & 0xFF if n < 32 else 0,
    0x1B: lambda _, n, a: a << n if n < 256 else 0,
    0x1C: lambda _, n, a: a >> n if n < 256 else 0,
    0x1D: lambda _, n, a: _signed(a) >> min(n, 256),
    0x20: lambda run, start, size: int.from_bytes(keccak256(run.view(start, size))),
    0x30: lambda run: run.address,
    **dict.fromkeys((0x31, 0x40, 0x5C), lambda _, of: 0),  # BALANCE, BLOCKHASH, TLOAD
    **dict.fromkeys((0x32, 0x33), lambda run: run.sender),
    0x34: lambda _: 0,
    0x35: lambda run, start: run.word(run.input, start),
    0x36: lambda run: len(run.input),
    0x37: lambda run, to, start, size: run.copy(run.input, to, start, size),
    0x38: lambda run: len(run.code),
    0x39: lambda run, to, start, size: run.copy(run.code, to, start, size),
    **dict.fromkeys((0x3B, 0x3F), lambda _, of: 1),  # EXTCODESIZE, EXTCODEHASH
    0x3D: lambda run: len(run.returned),
    0x3E: _returned,
    **dict.fromkeys((0x3A, *range(0x41, 0x49), 0x5A), lambda _: 2**31),  # of the block, and GAS
    0x50: lambda _, a: None,
    0x51: lambda run, at: run.word(run.view(at, 32), 0),
    0x52: lambda run, at, a: run.copy(a.to_bytes(32), at, 0, 32),
    0x53: lambda run, at, a: run.copy(a.to_bytes(32), at, 31, 1),
    0x54: lambda run, slot: run.load(slot),
    0x55: lambda run, slot, a: run.stored.update({slot: a}),
    0x56: lambda run, to: run.jump(to),
    0x57: lambda run, to, a: run.jump(to) if a else None,
    0x58: lambda run: run.position - 1,
    0x59: lambda run: len(run.memory),
    0x5B: lambda _: None,
    0x5D: lambda _, slot, a: None,
    0x5E: lambda run, to, start, size: run.copy(run.view(start, size), to, 0, size),
    **dict.fromkeys(range(0xA0, 0xA5), lambda _, *of: None),
    0xF1: lambda run, gas, to, value, *io: run.call(to, *io) if not value else run.spend(BUDGET),
    0xF2: lambda run, gas, to, value, start, size, *out: run.delegate(to, start, size),
    0xF4: lambda run, gas, to, start, size, *out: run.delegate(to, start, size),
    0xFA: lambda run, gas, to, *io: run.call(to, *io),
}
_ARITIES = {code: done.__code__.co_argcount - 1 for code, done in _OPERATIONS.items()}
_ARITIES |= {0xA0: 2, 0xA1: 3, 0xA2: 4, 0xA3: 5, 0xA4: 6, 0xF1: 7, 0xF2: 7, 0xF4: 6, 0xFA: 6}
