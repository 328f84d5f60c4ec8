"""Bytecode as instructions; opcodes.json has the opcodes by the fork that defined them."""

import json
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from scan.verification.bytecode_comparison import STACK_OPERANDS, operand_size

MAX_CODE_BYTES = 65_536  # EIP-7954
JUMPDEST = 0x5B
# STOP JUMP RETURN REVERT INVALID SELFDESTRUCT: only a jump leads to the code after one of these.
_HALTS = frozenset(bytes.fromhex("0056f3fdfeff"))


class Instruction(NamedTuple):
    """An instruction. `data` is its operand. `is_truncated`: the code ends inside it, and the EVM
    reads zeros."""

    offset: int
    name: str
    data: bytes = b""
    is_truncated: bool = False

    def text(self) -> str:
        shown = f" 0x{self.data.hex()}" if self.data else ""
        return f"{self.offset:05x} {self.name}{shown}{' (the code ends here)' * self.is_truncated}"


@cache
def opcodes() -> dict[int, str]:
    """Return the names of opcodes, each by the newest fork that defines it."""
    forks = json.loads(Path(__file__).with_name("opcodes.json").read_text())
    return {int(code, 16): name for names in forks.values() for code, name in names.items()}


def disassemble(code: bytes, most: int = MAX_CODE_BYTES) -> Iterator[Instruction]:
    """Yield at most `most` instructions of the code's first MAX_CODE_BYTES."""
    return islice(_instructions(code[:MAX_CODE_BYTES]), most)


def _instructions(code: bytes) -> Iterator[Instruction]:
    names = opcodes()
    offset = 0
    while offset < len(code):
        opcode, size = code[offset], operand_size(code, offset)
        data = code[offset + 1 : offset + 1 + size]
        name = names.get(opcode, f"UNKNOWN_0x{opcode:02x}")
        if opcode in STACK_OPERANDS and not size:
            name = f"INVALID_{name}"
        yield Instruction(offset, name, data, len(data) < size)
        offset += 1 + size


def can_reach(code: bytes, offset: int) -> bool:
    """Return whether code from `offset` on can run: because the instruction before it goes on, or
    because it has a JUMPDEST. Any JUMPDEST counts, as the target of a jump may be computed."""
    position, runs = 0, True
    while position < len(code):
        opcode = code[position]
        runs = opcode == JUMPDEST or runs
        position += 1 + operand_size(code, position)
        if runs and position > offset:
            return True
        runs = runs and opcode not in _HALTS
    return False
