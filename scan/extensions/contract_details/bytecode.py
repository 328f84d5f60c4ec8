"""The code at an address, verified or not, as instructions, and the tab with it. opcodes.json has
the opcodes by the fork that defined them.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import orjson
from flask import Blueprint, Response

from scan.errors import NotFound, Unavailable, UpstreamFailed
from scan.ethereum import blocks, client
from scan.ethereum.rlp_and_tries import keccak256
from scan.extensions.contract_details import inferred_functions
from scan.hex import BadHex, data, to_hex
from scan.http.current_request import reader
from scan.pages import addresses_and_tokens, records
from scan.pages.site import HEADERS, page
from scan.queries import contracts
from scan.queries.blocks import or_newest
from scan.queries.reader import Reader
from scan.verification import bytecode_metadata
from scan.verification.bytecode_comparison import HALTS, STACK_OPERANDS, masked_hash, operand_size

MAX_CODE_BYTES = 65_536  # EIP-7954
JUMPDEST = 0x5B


class Instruction(NamedTuple):
    """An instruction. `data` is its operand. `is_truncated`: the code ends inside it, and the EVM
    reads zeros."""

    offset: int
    name: str
    data: bytes = b""
    is_truncated: bool = False

    def text(self) -> str:
        data = f" 0x{self.data.hex()}" if self.data else ""
        return f"{self.offset:05x} {self.name}{data}{' (the code ends here)' * self.is_truncated}"


@cache
def opcodes() -> dict[int, str]:
    """Return the names of opcodes, each by the newest fork that defines it."""
    forks = json.loads(Path(__file__).with_name("opcodes.json").read_text())
    return {int(code, 16): name for names in forks.values() for code, name in names.items()}


def disassemble(code: bytes) -> Iterator[Instruction]:
    """Yield the instructions of the code's first MAX_CODE_BYTES."""
    code, names = code[:MAX_CODE_BYTES], opcodes()
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
        runs = runs and opcode not in HALTS
    return False


MAX_RESPONSE_BYTES = 1024 * 1024
TIMEOUT_S = 2.0
# Of ranges that may differ, as text: 100 patterns of 300 immutables each took 0.26 s to compare.
MAX_PATTERN_BYTES = 128 * 1024


class Bytecode(NamedTuple):
    """`delegate` is the address whose code an account runs (EIP-7702); `similar_to` a verified
    contract whose code differs in values of immutables and metadata alone, None where this contract
    is verified."""

    code: bytes
    code_hash: bytes
    metadata: bytecode_metadata.BytecodeMetadata | None
    delegate: bytes | None
    is_verified: bool
    verifier: bytes | None
    similar_to: bytes | None

    @property
    def instructions_end(self) -> int:
        """Return where the metadata begins, or the code's end where it can run: then it is code."""
        if self.metadata is None or can_reach(self.code, self.metadata.start):
            return len(self.code)
        return self.metadata.start


def get(reader: Reader, address: bytes) -> Bytecode:
    """Return the indexed code, or the node's where none is indexed; raises NotFound."""
    contract = contracts.get_or_index(reader, address, {"code"})
    code = bytes(contract.code or b"") or _code_of_node(reader, address)
    if not code:
        raise NotFound("There is no code at this address.", field="address")
    is_delegating = code.startswith(blocks.DELEGATION) and len(code) == len(blocks.DELEGATION) + 20
    verifier = contract.verifier and bytes(contract.verifier)
    similar = None if contract.is_verified else verifier
    if not contract.has_source:
        similar = similar_to(reader, code)
    return Bytecode(
        code,
        bytes(contract.code_hash) if contract.code and contract.code_hash else keccak256(code),
        bytecode_metadata.read_metadata(code),
        code[len(blocks.DELEGATION) :] if is_delegating else None,
        contract.is_verified,
        verifier,
        similar,
    )


def similar_to(reader: Reader, code: bytes) -> bytes | None:
    """Return a verified contract whose code differs in immutables and metadata alone, or None."""
    [rows] = reader.row("queries/verified_contracts_list_similar", code_length=len(code))
    hashes: dict[str, bytes | None] = {}  # by variable ranges, which most patterns share
    compared_bytes = 0
    for row in orjson.loads(rows):
        variable = row["variable"]
        if variable not in hashes:
            compared_bytes += len(variable)
            if compared_bytes > MAX_PATTERN_BYTES:
                continue
            hashes[variable] = masked_hash(code, variable)
        if hashes[variable] == data(row["maskedHash"]):
            return data(row["address"])
    return None


def _code_of_node(reader: Reader, address: bytes) -> bytes:
    """Return the node's code: delegating accounts and contracts never called are not indexed."""
    reader.do_not_cache()
    try:
        code = reader.node.within(TIMEOUT_S).call(
            "eth_getCode", to_hex(address), or_newest(reader, None), most_bytes=MAX_RESPONSE_BYTES
        )
        return data(code)
    except (client.RpcError, BadHex):
        raise UpstreamFailed("The node did not return this code.") from None


# A text has all of them: those of the largest contracts take 700 kB.
MAX_SHOWN_INSTRUCTIONS = 1_000
MAX_SHOWN_BYTES = 4_096

blueprint = Blueprint("pages_bytecode", __name__)


def bytecode_page(key: bytes) -> Response:
    held = None
    missing = ""
    try:
        held = get(reader(), key)
    except (NotFound, UpstreamFailed, Unavailable) as error:
        missing = error.message
    code = held.code[: held.instructions_end] if held else b""
    instructions = [*islice(disassemble(code), MAX_SHOWN_INSTRUCTIONS + 1)]
    functions: Sequence[inferred_functions.InferredFunction] = ()
    if held is not None and not held.is_verified and held.delegate is None:
        with suppress(Unavailable):  # of what is no more than a guess
            functions = inferred_functions.get(reader(), held.code, held.code_hash)
    related = filter(None, (held.delegate, held.similar_to) if held else ())
    head = addresses_and_tokens.address_head(key, "bytecode", more=map(to_hex, related))
    return page(
        "bytecode.html",
        **head,
        held=held,
        missing=missing,
        functions=functions,
        compiler=bytecode_metadata.compiler_version(held.metadata) if held else None,
        instructions=instructions[:MAX_SHOWN_INSTRUCTIONS],
        is_cut=len(instructions) > MAX_SHOWN_INSTRUCTIONS,
        most_bytes=MAX_SHOWN_BYTES,
    )


@blueprint.get("/address/<address>/disassembly")
def get_disassembly(address: str) -> Response:
    """Return all instructions of a contract as text."""
    held = get(reader(), records.address_of(address))
    instructions = disassemble(held.code[: held.instructions_end])
    return _text_response("".join(f"{instruction.text()}\n" for instruction in instructions))


@blueprint.get("/address/<address>/bytecode")
def get_bytecode(address: str) -> Response:
    """Return the bytecode of a contract as hex."""
    return _text_response(to_hex(get(reader(), records.address_of(address)).code))


def _text_response(text: str) -> Response:
    reader().do_not_cache()  # large ones would evict everything else
    return Response(text, headers={**dict(HEADERS), "Content-Type": "text/plain; charset=utf-8"})
