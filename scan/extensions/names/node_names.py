"""What the contracts of a name service answer: addresses of names, and names of addresses.

Whatever they answer anybody may have written, and a node may lie: it is decoded within bounds, and
an answer of another form is none.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple, TypeVar

from eth_abi.abi import encode

from scan.contracts.read_calls import stopped_in_contract
from scan.ethereum.block_parameter import BlockId
from scan.ethereum.call_failures import revert_data
from scan.ethereum.client import AnswerTooLarge, Call, RpcError
from scan.ethereum.keccak import keccak256
from scan.ethereum.request_node import NodeSession
from scan.ethereum.token_metadata import address
from scan.extensions.names.name_services import Interface, NameService
from scan.extensions.names.normalization import MAX_BYTES
from scan.hex import BadHex, data, to_hex

WORD = 32
GAS = 1_000_000  # of each call
MAX_RESPONSE_BYTES = 256 * 1024  # of a batch
COIN_TYPE = 60  # Ethereum's (SLIP-44), by which names have an address of accounts

RESOLVE = bytes.fromhex("9061b923")  # resolve(bytes,bytes)
REVERSE = bytes.fromhex("5d78a217")  # reverse(bytes,uint256)
RESOLVER = bytes.fromhex("0178b8bf")  # resolver(bytes32)
ADDR = bytes.fromhex("3b3b57de")  # addr(bytes32)
NAME = bytes.fromhex("691f3431")  # name(bytes32)
OFFCHAIN_LOOKUP = bytes.fromhex("556f1830")  # EIP-3668


class Problem(Enum):
    """Why something is not known; the values are those of the API."""

    UNREAD = "unread"
    OFF_CHAIN = "off_chain"
    NOT_NORMALIZED = "not_normalized"


class Request(NamedTuple):
    """A contract and calldata."""

    to: bytes
    data: bytes


_Key = TypeVar("_Key")
Answer = bytes | Problem | None  # None: the contract has none


def namehash(name: str) -> bytes:
    """Return the node of a normalised name (EIP-137)."""
    node = bytes(32)
    for label in reversed(name.split(".")):
        node = keccak256(node + keccak256(label.encode()))
    return node


def dns_encoded(name: str) -> bytes:
    """Return a normalised name as the universal resolver takes it (ENSIP-10)."""
    labels = [label.encode() for label in name.split(".")]
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def addresses_of(
    node: NodeSession, service: NameService, names: Sequence[str], block: BlockId
) -> dict[str, bytes | Problem | None]:
    """Return the addresses of normalised names. Raises UpstreamFailed, Unavailable."""
    nodes = {name: namehash(name) for name in names}
    if service.interface is Interface.REGISTRY:
        answers = _by_registry(node, service.contract, nodes, ADDR, block)
        return {name: _account(answer) for name, answer in answers.items()}
    requests = {
        name: Request(
            service.contract,
            RESOLVE + encode(("bytes", "bytes"), (dns_encoded(name), ADDR + node_)),
        )
        for name, node_ in nodes.items()
    }
    answers = _answers(node, requests, block)
    return {name: _account(_bytes(answer, WORD)) for name, answer in answers.items()}


def names_of(
    node: NodeSession, service: NameService, addresses: Sequence[bytes], block: BlockId
) -> dict[bytes, str | Problem | None]:
    """Return the names that addresses have chosen, which may be any text. Those of a universal
    resolver lead back to the address, others are to be compared. Raises UpstreamFailed,
    Unavailable."""
    if service.interface is Interface.REGISTRY:
        nodes = {key: namehash(f"{key.hex()}.{service.reverse_zone}") for key in addresses}
        answers = _by_registry(node, service.contract, nodes, NAME, block)
    else:
        requests = {
            key: Request(service.contract, REVERSE + encode(("bytes", "uint256"), (key, COIN_TYPE)))
            for key in addresses
        }
        answers = _answers(node, requests, block)
    return {key: _text(_bytes(answer, MAX_BYTES)) for key, answer in answers.items()}


def _by_registry(
    node: NodeSession,
    registry: bytes,
    nodes: Mapping[_Key, bytes],
    selector: bytes,
    block: BlockId,
) -> dict[_Key, Answer]:
    """Return what the resolvers of nodes answer to one function."""
    requests = {key: Request(registry, RESOLVER + node_) for key, node_ in nodes.items()}
    answers = _answers(node, requests, block)
    resolvers = {key: _account(answer) for key, answer in answers.items()}
    requests = {
        key: Request(resolver, selector + nodes[key])
        for key, resolver in resolvers.items()
        if isinstance(resolver, bytes)
    }
    return resolvers | _answers(node, requests, block)


def _answers(
    node: NodeSession, requests: Mapping[_Key, Request], block: BlockId
) -> dict[_Key, Answer]:
    """Return what contracts return, read in one batch."""
    calls = [
        Call(
            "eth_call",
            ({"to": to_hex(call.to), "data": to_hex(call.data), "gas": hex(GAS)}, block),
        )
        for call in requests.values()
    ]
    results = node.results(calls, MAX_RESPONSE_BYTES)
    return {key: _answer(result) for key, result in zip(requests, results, strict=True)}


def _answer(result: object) -> Answer:
    if isinstance(result, AnswerTooLarge):
        return None
    if isinstance(result, RpcError):
        if (revert_data(result.data) or b"").startswith(OFFCHAIN_LOOKUP):
            return Problem.OFF_CHAIN
        return None if stopped_in_contract(result) else Problem.UNREAD
    try:
        return data(result)
    except BadHex:
        return Problem.UNREAD


def _account(answer: Answer) -> Answer:
    """Return the address that an answer of one word is, None for the zero address."""
    if not isinstance(answer, bytes):
        return answer
    account = address(answer) if len(answer) == WORD else None
    return account if account is not None and any(account) else None


def _bytes(answer: Answer, most: int) -> Answer:
    """Return the first value of an answer, an ABI-encoded string or bytes; None where it is longer
    than `most`, or is none."""
    if not isinstance(answer, bytes):
        return answer
    start = int.from_bytes(answer[:WORD]) + WORD
    length = int.from_bytes(answer[start - WORD : start]) if start <= len(answer) else most + 1
    return answer[start : start + length] if length <= min(most, len(answer) - start) else None


def _text(answer: Answer) -> str | Problem | None:
    if not isinstance(answer, bytes):
        return answer
    try:
        return answer.decode() or None
    except UnicodeDecodeError:
        return Problem.NOT_NORMALIZED
