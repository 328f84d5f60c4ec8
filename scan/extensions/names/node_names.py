"""What the contracts of a name service answer: addresses of names, and names of addresses.

Whatever they answer anybody may have written, and a node may lie: it is decoded within bounds, and
an answer of another form is none.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import Enum
from typing import NamedTuple, TypeVar

from scan.contracts import abi
from scan.ethereum.client import AnswerTooLarge, Call, RpcError
from scan.ethereum.node_errors import revert_data
from scan.ethereum.request_node import NodeSession
from scan.ethereum.rlp_and_tries import keccak256
from scan.ethereum.served_chain import BlockId
from scan.ethereum.token_metadata import address
from scan.extensions.names.gateways import (
    MAX_NESTED,
    OFFCHAIN_LOOKUP,
    TOTAL_S,
    Gateways,
    Lookup,
    NoAnswer,
)
from scan.extensions.names.name_services import Interface, NameService
from scan.extensions.names.normalization import MAX_BYTES
from scan.hex import BadHex, data, to_hex

WORD = 32
GAS = 1_000_000  # of each call
CALLBACK_GAS = 10_000_000  # which may check proofs of another chain's state
MAX_LOOKUPS = 4  # of one request
MAX_ANSWER_BYTES = 1024  # of a resolver
MAX_RESPONSE_BYTES = 256 * 1024  # of a batch
MAX_LEVELS = 16  # of a name and those above it, of which resolvers are looked up
COIN_TYPE = 60  # Ethereum's (SLIP-44), by which names have an address of accounts

RESOLVE = bytes.fromhex("9061b923")  # resolve(bytes,bytes)
EXTENDED = bytes.fromhex("01ffc9a7") + RESOLVE.ljust(WORD, b"\0")  # supportsInterface(bytes4)
REVERSE = bytes.fromhex("5d78a217")  # reverse(bytes,uint256)
RESOLVER = bytes.fromhex("0178b8bf")  # resolver(bytes32)
ADDR = bytes.fromhex("3b3b57de")  # addr(bytes32)
NAME = bytes.fromhex("691f3431")  # name(bytes32)
NAME_OF = bytes.fromhex("4ec3bd23")  # nameForAddr(address)
ADDR_OF_COIN = bytes.fromhex("f1cb7e06")  # addr(bytes32,uint256)

_BYTES_AND_NUMBER = abi.parse_types([{"type": "bytes"}, {"type": "uint256"}])
_TWO_BYTES = abi.parse_types([{"type": "bytes"}] * 2)


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
Claim = str | Problem | None  # the name that an address has chosen, which may be any text


class GatewayReads:
    """The lookups of one request, of which few are made. `node` is its session with the time that
    they have; `place` holds one of the places of threads that wait."""

    def __init__(
        self,
        gateways: Gateways,
        node: NodeSession,
        place: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._gateways = gateways
        self._node = node
        self._place = place
        self._ends_at = time.monotonic() + TOTAL_S
        self._left = MAX_LOOKUPS

    def answer(self, contract: bytes, result: object, block: BlockId | str) -> Answer:
        """Return what a contract returns after the lookups that it reverted with. Raises
        UpstreamFailed, Unavailable."""
        self._left -= 1
        if self._left < 0:
            return Problem.UNREAD
        try:
            for _ in range(MAX_NESTED):
                lookup = Lookup.of_revert(_reverted(result), contract)
                with self._place():
                    said = self._gateways.answer(lookup, self._ends_at)
                request = Request(contract, lookup.callback_data(said))
                calls = [_call(request, CALLBACK_GAS, block)]
                [result] = self._node.results(calls, MAX_RESPONSE_BYTES)
                if not _is_lookup(result):
                    answer = _answer(result)
                    return Problem.OFF_CHAIN if answer is None else answer
        except NoAnswer:
            pass
        return Problem.OFF_CHAIN


class NameReads(NamedTuple):
    """A service as one request reads it: at a block, or at "latest". Without `gateways` what other
    hosts keep is a problem."""

    node: NodeSession
    service: NameService
    block: BlockId | str
    gateways: GatewayReads | None = None


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


def evm_coin_type(chain_id: int) -> int:
    """Return the coin type of a chain's addresses (ENSIP-11)."""
    return COIN_TYPE if chain_id == 1 else 1 << 31 | chain_id


def addresses_of(
    reads: NameReads, names: Sequence[str], coin_type: int = COIN_TYPE
) -> dict[str, Answer]:
    """Return the addresses of normalised names, by a universal resolver those of a coin type.
    Raises UpstreamFailed, Unavailable."""
    if reads.service.interface is Interface.REGISTRY:
        answers = _by_registry(reads, {name: name for name in names}, ADDR)
    elif coin_type == COIN_TYPE:
        answers = resolved(reads, {name: ADDR + namehash(name) for name in names}, WORD)
    else:
        coin = coin_type.to_bytes(WORD)
        calls = {name: ADDR_OF_COIN + namehash(name) + coin for name in names}
        answers = resolved(reads, calls, MAX_ANSWER_BYTES)
        return {name: _account(_bytes(answer, 20), 20) for name, answer in answers.items()}
    return {name: _account(answer) for name, answer in answers.items()}


def resolved(reads: NameReads, calls: Mapping[str, bytes], most: int) -> dict[str, Answer]:
    """Return what the resolvers of names answer to a call of each, by a universal resolver."""
    requests = {
        name: _resolving(reads.service.contract, name, call) for name, call in calls.items()
    }
    return {name: _bytes(answer, most) for name, answer in _answers(reads, requests).items()}


def names_of(reads: NameReads, addresses: Sequence[bytes]) -> dict[bytes, Claim]:
    """Return the names that addresses have chosen, which may be any text. Those of a universal
    resolver lead back to the address, others are to be compared. Raises UpstreamFailed,
    Unavailable."""
    service = reads.service
    if service.interface is Interface.REGISTRY:
        nodes = {key: f"{key.hex()}.{service.reverse_zone}" for key in addresses}
        answers = _by_registry(reads, nodes, NAME)
    else:
        requests = {
            key: Request(
                service.contract, REVERSE + abi.encode(_BYTES_AND_NUMBER, (key, COIN_TYPE))
            )
            for key in addresses
        }
        answers = _answers(reads, requests)
    return {key: _text(answer) for key, answer in answers.items()}


def names_in_registrar(reads: NameReads, addresses: Sequence[bytes]) -> dict[bytes, Claim]:
    """Return the names that addresses have chosen on an L2 (ENSIP-19), which are to be compared;
    none without a registrar. Raises UpstreamFailed, Unavailable."""
    registrar = reads.service.reverse_registrar
    if registrar is None:
        return {}
    requests = {key: Request(registrar, NAME_OF + key.rjust(WORD, b"\0")) for key in addresses}
    return {key: _text(answer) for key, answer in _answers(reads, requests).items()}


def default_names_of(reads: NameReads, addresses: Sequence[bytes]) -> dict[bytes, Claim]:
    """Return the names that addresses have chosen for all chains (ENSIP-19), which are to be
    compared, by a universal resolver. Raises UpstreamFailed, Unavailable."""
    names = {key: f"{key.hex()}.default.reverse" for key in addresses}
    calls = {name: NAME + namehash(name) for name in names.values()}
    answers = resolved(reads, calls, MAX_ANSWER_BYTES)
    return {key: _text(answers[name]) for key, name in names.items()}


def _by_registry(
    reads: NameReads, names: Mapping[_Key, str], selector: bytes
) -> dict[_Key, Answer]:
    """Return what the resolvers of names answer to one function: a name without one has that of the
    nearest name above it, if that resolves names below (ENSIP-10)."""
    registry = reads.service.contract
    if not any(registry):
        return dict.fromkeys(names)
    levels = {key: _levels(name) for key, name in names.items()}
    every = {level for of_name in levels.values() for level in of_name}
    lookups = {level: Request(registry, RESOLVER + namehash(level)) for level in every}
    resolvers = {level: _account(answer) for level, answer in _answers(reads, lookups).items()}
    answers: dict[_Key, Answer] = {
        key: next((resolvers[level] for level in of_name if resolvers[level]), None)
        for key, of_name in levels.items()
    }
    by_key = {key: answer for key, answer in answers.items() if isinstance(answer, bytes)}
    calls = {key: selector + namehash(names[key]) for key in by_key}
    own = {key: Request(by_key[key], calls[key]) for key in by_key if resolvers[names[key]]}
    queries = {_Extended(resolver): Request(resolver, EXTENDED) for resolver in by_key.values()}
    read = _answers(reads, {**queries, **own})
    requests = {}
    for key, resolver in by_key.items():
        is_extended = read[_Extended(resolver)]
        if isinstance(is_extended, bytes) and int.from_bytes(is_extended[:WORD]) == 1:
            requests[key] = _resolving(resolver, names[key], calls[key])
        elif key in own:
            answers[key] = read[key]
        else:
            answers[key] = is_extended if isinstance(is_extended, Problem) else None
    extended = _answers(reads, requests)
    return answers | {key: _bytes(answer, MAX_ANSWER_BYTES) for key, answer in extended.items()}


class _Extended(NamedTuple):
    """The question whether a resolver resolves names below its own, for which no host is asked."""

    resolver: bytes


def _levels(name: str) -> list[str]:
    """Return a name and the names above it, the nearest first."""
    labels = name.split(".")
    return [".".join(labels[start:]) for start in range(min(len(labels), MAX_LEVELS))]


def _resolving(contract: bytes, name: str, call: bytes) -> Request:
    """Return the request to a universal resolver, or one of names below, which answers as bytes."""
    return Request(contract, RESOLVE + abi.encode(_TWO_BYTES, (dns_encoded(name), call)))


def _answers(reads: NameReads, requests: Mapping[_Key, Request]) -> dict[_Key, Answer]:
    """Return what contracts return, read in one batch, and what gateways answer for them."""
    calls = [_call(call, GAS, reads.block) for call in requests.values()]
    results = reads.node.results(calls, MAX_RESPONSE_BYTES)
    answers: dict[_Key, Answer] = {}
    for (key, request), result in zip(requests.items(), results, strict=True):
        gateways = None if isinstance(key, _Extended) else reads.gateways
        if gateways is not None and _is_lookup(result):
            answers[key] = gateways.answer(request.to, result, reads.block)
        else:
            answers[key] = _answer(result)
    return answers


def _call(request: Request, gas: int, block: BlockId | str) -> Call:
    call = {"to": to_hex(request.to), "data": to_hex(request.data), "gas": hex(gas)}
    return Call("eth_call", (call, block))


def _is_lookup(result: object) -> bool:
    """Whether a contract reverted with a lookup for gateways (EIP-3668)."""
    return _reverted(result).startswith(OFFCHAIN_LOOKUP)


def _reverted(result: object) -> bytes:
    return (revert_data(result.data) or b"") if isinstance(result, RpcError) else b""


def _answer(result: object) -> Answer:
    if isinstance(result, AnswerTooLarge):
        return None
    if _is_lookup(result):
        return Problem.OFF_CHAIN
    if isinstance(result, RpcError):
        return None if result.is_refusal else Problem.UNREAD
    try:
        return data(result)
    except BadHex:
        return Problem.UNREAD


def _account(answer: Answer, size: int = WORD) -> Answer:
    """Return the address that an answer of so many bytes is, None for the zero address."""
    if not isinstance(answer, bytes):
        return answer
    account = address(answer.rjust(WORD, b"\0")) if len(answer) == size else None
    return account if account is not None and any(account) else None


def _bytes(answer: Answer, most: int) -> Answer:
    """Return the first value of an answer, an ABI-encoded string or bytes; None where it is longer
    than `most`, or is none."""
    if not isinstance(answer, bytes):
        return answer
    start = int.from_bytes(answer[:WORD]) + WORD
    length = int.from_bytes(answer[start - WORD : start]) if start <= len(answer) else most + 1
    return answer[start : start + length] if length <= min(most, len(answer) - start) else None


def _text(answer: Answer) -> Claim:
    name = _bytes(answer, MAX_BYTES)
    if not isinstance(name, bytes):
        return name
    try:
        return name.decode() or None
    except UnicodeDecodeError:
        return Problem.NOT_NORMALIZED
