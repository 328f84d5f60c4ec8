"""The code at an address, verified or not."""

from typing import NamedTuple

import orjson
from eth_hash.auto import keccak

from scan.errors import NotFound, UpstreamFailed
from scan.ethereum.blocks import DELEGATION
from scan.ethereum.client import RpcError
from scan.extensions.contract_details.disassembly import can_reach
from scan.hex import BadHex, data, to_hex
from scan.queries import contracts
from scan.queries.contracts import Contract
from scan.queries.reader import Reader
from scan.verification.bytecode_metadata import BytecodeMetadata, read_metadata
from scan.verification.contract_match import RUNTIME
from scan.verification.similar_code import masked_hash

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
    metadata: BytecodeMetadata | None
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
    contract = contracts.get(reader, address, {"code"})
    code = bytes(contract.code or b"") or _code_of_node(reader, address)
    if not code:
        raise NotFound("There is no code at this address.", field="address")
    is_delegating = code.startswith(DELEGATION) and len(code) == len(DELEGATION) + 20
    return Bytecode(
        code,
        bytes(contract.code_hash) if contract.code and contract.code_hash else keccak(code),
        read_metadata(code),
        code[len(DELEGATION) :] if is_delegating else None,
        contract.is_verified and contract.match != RUNTIME,
        contract.verifier and bytes(contract.verifier),
        _similar_to(reader, contract, code),
    )


def _similar_to(reader: Reader, contract: Contract, code: bytes) -> bytes | None:
    if contract.match == RUNTIME and contract.verifier is not None:
        return bytes(contract.verifier)
    return None if contract.is_verified else similar_to(reader, code)


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
            "eth_getCode", to_hex(address), "latest", most_bytes=MAX_RESPONSE_BYTES
        )
        return data(code)
    except (RpcError, BadHex):
        raise UpstreamFailed("The node did not return this code.") from None
