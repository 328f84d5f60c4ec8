"""Where code passes a call on: a bounded run of the code itself, in a small interpreter of the EVM.

A run knows nothing of the chain: it is given what it reads. It holds no gas, but has a budget of
steps and of memory, as its code may be hostile.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from eth_hash.auto import keccak

BUDGET = 6_000  # steps, and words of memory that they touch
MAX_MEMORY = 128 * 1024
MAX_INPUT = 1024  # of a call of another contract
MAX_READS = 8
_WORD = 2**256
# PUSH1 to PUSH32 with their data, which the code may cut short.
PUSH = b"|".join(re.escape(bytes([0x5F + n])) + b".{0,%d}" % n for n in range(1, 33))
_PUSH = re.compile(PUSH, re.DOTALL)


class Read(NamedTuple):
    """What a run reads of the chain: the answer of the contract `to` to `input`, or, with an empty
    `to`, the contract's own slot `input`."""

    to: bytes
    input: bytes


# Returns a word or what was returned, None where a call fails.
Answer = Callable[[Read], bytes | None]


class Run(NamedTuple):
    """`target` is the contract to which the call was passed on, None where it was not; `end` where
    the code that ran ends. `reads` were made before."""

    target: bytes | None
    end: int
    reads: tuple[Read, ...]


class _Ended(Exception):
    """The run has ended, or may not go on."""


def _signed(value: int) -> int:
    return value - _WORD if value >> 255 else value


def _quotient(a: int, b: int) -> int:
    quotient = abs(_signed(a)) // abs(_signed(b)) if b else 0
    return quotient if (_signed(a) < 0) == (_signed(b) < 0) else -quotient


def _remainder(a: int, b: int) -> int:
    remainder = abs(_signed(a)) % abs(_signed(b)) if b else 0
    return -remainder if _signed(a) < 0 else remainder


def _sign_extended(size: int, value: int) -> int:
    bits = 8 * size + 8
    value = value % 2**bits if size < 31 else value
    return value - 2**bits if size < 31 and value >> (bits - 1) else value


_COMPUTING: dict[int, Callable[..., int]] = {
    0x01: lambda a, b: a + b,
    0x02: lambda a, b: a * b,
    0x03: lambda a, b: a - b,
    0x04: lambda a, b: a // b if b else 0,
    0x05: _quotient,
    0x06: lambda a, b: a % b if b else 0,
    0x07: _remainder,
    0x08: lambda a, b, n: (a + b) % n if n else 0,
    0x09: lambda a, b, n: a * b % n if n else 0,
    0x0A: lambda a, b: pow(a, b, _WORD),
    0x0B: _sign_extended,
    0x10: lambda a, b: a < b,
    0x11: lambda a, b: a > b,
    0x12: lambda a, b: _signed(a) < _signed(b),
    0x13: lambda a, b: _signed(a) > _signed(b),
    0x14: lambda a, b: a == b,
    0x15: lambda a: a == 0,
    0x16: lambda a, b: a & b,
    0x17: lambda a, b: a | b,
    0x18: lambda a, b: a ^ b,
    0x19: lambda a: ~a,
    0x1A: lambda n, a: a >> 8 * (31 - n) & 0xFF if n < 32 else 0,
    0x1B: lambda n, a: a << n if n < 256 else 0,
    0x1C: lambda n, a: a >> n if n < 256 else 0,
    0x1D: lambda n, a: _signed(a) >> min(n, 256),
    0x1E: lambda a: 256 - a.bit_length(),
    # Of accounts and blocks: every account has code, and no coin; transient storage is empty.
    **dict.fromkeys((0x31, 0x40, 0x49, 0x5C), lambda a: 0),
    **dict.fromkeys((0x3B, 0x3F), lambda a: 1),
}
_ARITIES = {opcode: compute.__code__.co_argcount for opcode, compute in _COMPUTING.items()}
# A call without coin in a block of no chain: CALLVALUE, GASPRICE, COINBASE to BLOBBASEFEE, GAS.
_ENVIRONMENT = {0x34: 0, 0x3A: 1, **dict.fromkeys(range(0x41, 0x4B), 2**31), 0x5A: 2**24}
_POPPED = {0x50: 1, 0x5D: 2, **{0xA0 + n: 2 + n for n in range(5)}}  # POP, TSTORE and logs
_CALLS = {0xF1: 7, 0xF2: 7, 0xF4: 6, 0xFA: 6}  # with their operands


def run(code: bytes, input_: bytes, address: bytes, sender: bytes, answer: Answer) -> Run:
    """Run code at an address for a call, up to the end of what follows the DELEGATECALL that passes
    the whole input on. `answer` may raise, which ends the run."""
    machine = _Machine(code, input_, address, sender, answer)
    try:
        while True:
            machine.step()
    except (_Ended, IndexError):
        return Run(machine.target, machine.end, tuple(machine.reads))


class _Machine:
    def __init__(
        self, code: bytes, input_: bytes, address: bytes, sender: bytes, answer: Answer
    ) -> None:
        self._code, self._input, self._answer = code, input_, answer
        own, caller = (int.from_bytes(account) for account in (address, sender))
        sizes = {0x36: len(input_), 0x38: len(code)}
        self._environment = {**_ENVIRONMENT, **sizes, 0x30: own, 0x32: caller, 0x33: caller}
        self._stack: list[int] = []
        self._memory = bytearray()
        self._stored: dict[int, int] = {}
        self._returned = b""
        self._destinations: bytes | None = None
        self._position, self._left = 0, BUDGET
        self.target: bytes | None = None
        self.end = 0
        self.reads: list[Read] = []

    def step(self) -> None:
        """Take one step. Raises _Ended or IndexError."""
        at, stack, pop = self._position, self._stack, self._stack.pop
        opcode = self._code[at]
        self._spend(1)
        size = opcode - 0x5F if 0x5F <= opcode <= 0x7F else 0
        self._position = at + 1 + size
        self.end = max(self.end, self._position)
        if 0x5F <= opcode <= 0x7F:
            stack.append(int.from_bytes(self._code[at + 1 : at + 1 + size].ljust(size, b"\0")))
        elif 0x80 <= opcode <= 0x8F:
            stack.append(stack[0x7F - opcode])
        elif 0x90 <= opcode <= 0x9F:
            stack[-1], stack[0x8E - opcode] = stack[0x8E - opcode], stack[-1]
        elif opcode in _COMPUTING:
            self._spend(40 * (opcode == 0x0A))  # EXP
            arguments = [pop() for _ in range(_ARITIES[opcode])]
            stack.append(int(_COMPUTING[opcode](*arguments)) % _WORD)
        elif opcode in self._environment:
            stack.append(self._environment[opcode])
        elif opcode in _POPPED:
            for _ in range(_POPPED[opcode]):
                pop()
        elif opcode in (0x56, 0x57):  # JUMP, JUMPI
            destination = pop()
            if opcode == 0x56 or pop():
                self._jump(destination)
        elif opcode in _CALLS:
            self._call(opcode, [pop() for _ in range(_CALLS[opcode])])
        elif opcode in (0x54, 0x55):  # SLOAD, SSTORE
            slot = pop()
            if opcode == 0x55:
                self._stored[slot] = pop()
            elif slot not in self._stored:
                word = self._read(b"", slot.to_bytes(32)) or b""
                self._stored[slot] = int.from_bytes(word[:32])
            if opcode == 0x54:
                stack.append(self._stored[slot])
        elif opcode != 0x5B:
            self._touch_memory(opcode)

    def _touch_memory(self, opcode: int) -> None:
        """Take a step of the instructions that read or write memory, or end."""
        stack, pop = self._stack, self._stack.pop
        if opcode == 0x35:  # CALLDATALOAD
            stack.append(int.from_bytes(_padded(self._input, pop(), 32)))
        elif opcode in (0x37, 0x39, 0x3C, 0x3E):  # CALLDATACOPY, CODECOPY, EXTCODECOPY, RETURN...
            if opcode == 0x3C:
                pop()
            to, start, size = pop(), pop(), pop()
            if opcode == 0x3E and start + size > len(self._returned):
                raise _Ended
            source = {0x37: self._input, 0x39: self._code, 0x3E: self._returned}.get(opcode, b"")
            self._write(to, size, partial(_padded, source, start))
        elif opcode == 0x3D:  # RETURNDATASIZE
            stack.append(len(self._returned))
        elif opcode == 0x20:  # KECCAK256
            stack.append(int.from_bytes(keccak(self._view(pop(), pop()))))
        elif opcode == 0x51:  # MLOAD
            stack.append(int.from_bytes(self._view(pop(), 32)))
        elif opcode in (0x52, 0x53):  # MSTORE, MSTORE8
            to, word = pop(), pop().to_bytes(32)
            self._write(to, 32 if opcode == 0x52 else 1, lambda size: word[-size:])
        elif opcode == 0x58:  # PC
            stack.append(self._position - 1)
        elif opcode == 0x59:  # MSIZE
            stack.append(len(self._memory))
        elif opcode == 0x5E:  # MCOPY
            to, start, size = pop(), pop(), pop()
            copied = self._view(start, size)
            self._write(to, size, lambda _: copied)
        else:
            raise _Ended

    def _call(self, opcode: int, operands: list[int]) -> None:
        to = (operands[1] % 2**160).to_bytes(20)
        *value, start, size, out, out_size = operands[2:]
        answer: bytes | None
        sent = self._view(start, size)
        if opcode in (0xF2, 0xF4):  # CALLCODE, DELEGATECALL
            if self.target is not None or not sent.startswith(self._input):
                raise _Ended
            self.target, answer = to, b""
        elif any(value) or size > MAX_INPUT:
            raise _Ended
        else:
            answer = self._read(to, sent)
        self._stack.append(int(answer is not None))
        self._returned = returned = answer or b""
        self._write(out, min(out_size, len(returned)), lambda size: returned[:size])

    def _read(self, to: bytes, input_: bytes) -> bytes | None:
        if self.target is not None or len(self.reads) == MAX_READS:  # nothing that follows matters
            raise _Ended
        self.reads.append(Read(to, input_))
        return self._answer(self.reads[-1])

    def _jump(self, destination: int) -> None:
        if self._destinations is None:
            self._destinations = _PUSH.sub(lambda push: bytes(len(push[0])), self._code)
        if self._destinations[destination : destination + 1] != b"\x5b":
            raise _Ended
        self._position = destination

    def _view(self, start: int, size: int) -> bytes:
        if not size:
            return b""
        if start + size > MAX_MEMORY:
            raise _Ended
        self._spend(size // 32)
        words = -(-(start + size) // 32) * 32
        self._memory.extend(bytes(max(words - len(self._memory), 0)))
        return bytes(self._memory[start : start + size])

    def _write(self, start: int, size: int, content: Callable[[int], bytes]) -> None:
        self._view(start, size)  # raises _Ended
        if size:
            self._memory[start : start + size] = content(size)

    def _spend(self, cost: int) -> None:
        self._left -= cost
        if self._left < 0:
            raise _Ended


def _padded(source: bytes, start: int, size: int) -> bytes:
    return source[start : start + size].ljust(size, b"\0")
