"""Blocks with their receipts and the contracts created in them, read from a node."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from scan.ethereum.blocks import (
    DecodedBlock,
    MalformedBlock,
    created_addresses,
    created_in_flat_traces,
    decode_block,
)
from scan.ethereum.client import Call, Node, NodeError, RpcError
from scan.hex import BadHex, data, quantity, to_hex

log = logging.getLogger(__name__)

CONCURRENT_FETCHES = 3  # requests in flight at any time, where there are several to send
TRACE_ATTEMPTS = 3

_T = TypeVar("_T")


class FetchedBlock(NamedTuple):
    """A block, and the contracts that contracts created in it (empty without traces)."""

    block: DecodedBlock
    created: list[bytes]


class BlockSource:
    """Reads blocks from a node, and remembers which methods the node offers."""

    def __init__(self, node: Node, *, traces: str = "auto") -> None:
        self._node = node
        self._has_block_receipts = True
        self._tracers: tuple[str, ...] = ("debug", "trace") if traces == "auto" else ()
        self._has_traced = False
        self._trace_errors: dict[str, int] = {}
        self._trace_failures: dict[bytes, int] = {}  # failures by block hash

    def head(self) -> tuple[int, int]:
        """The newest block number, and the chain id, in one request."""
        number, chain_id = self._node.batch([Call("eth_blockNumber", ()), Call("eth_chainId", ())])
        return _checked(lambda: (quantity(_result(number)), quantity(_result(chain_id))))

    def chain_id(self) -> int:
        return _checked(lambda: quantity(self._node.call("eth_chainId")))

    def hash_at(self, number: int) -> bytes | None:
        """The hash of the node's block of that number; None where it has none."""
        [header] = self._node.batch([Call("eth_getBlockByNumber", (hex(number), False))])
        return _checked(lambda: _hash(header))

    def blocks(self, first: int, last: int) -> list[FetchedBlock]:
        """Blocks first..last; raises NodeError or MalformedBlock, never leaves one out."""
        blocks = [
            decode_block(header, receipts, number)
            for number, (header, receipts) in enumerate(self.raw_blocks(first, last), start=first)
        ]
        return [FetchedBlock(b, c) for b, c in zip(blocks, self._created(blocks), strict=True)]

    def raw_blocks(self, first: int, last: int) -> list[tuple[Any, Any]]:
        """Blocks first..last and their receipts, as the node's JSON."""
        numbers = range(first, last + 1)
        calls = [Call("eth_getBlockByNumber", (hex(number), True)) for number in numbers]
        if self._has_block_receipts:
            calls += [Call("eth_getBlockReceipts", (hex(number),)) for number in numbers]
        answers = self._node.batch(calls)
        headers = [
            _present(answer, number) for answer, number in zip(answers, numbers, strict=False)
        ]
        receipts = self._receipts(headers, answers[len(numbers) :])
        _require_all(receipts, numbers)
        return list(zip(headers, receipts, strict=True))

    def _receipts(self, headers: list[Any], answers: list[Any]) -> list[Any]:
        if any(isinstance(answer, RpcError) and answer.is_missing_method for answer in answers):
            log.info("the node has no eth_getBlockReceipts; reading receipts one by one")
            self._has_block_receipts = False
        if not self._has_block_receipts:
            return self._receipts_one_by_one(headers)
        for answer in answers:
            if isinstance(answer, RpcError):
                raise NodeError(f"the node refuses the receipts of a block: {answer}")
        return answers

    def _receipts_one_by_one(self, headers: list[Any]) -> list[list[Any]]:
        try:
            hashes = [[tx["hash"] for tx in header["transactions"]] for header in headers]
        except (TypeError, KeyError) as error:
            raise MalformedBlock(f"a block's transactions have no hashes: {error}") from error
        answers = iter(
            self._node.batch(
                [Call("eth_getTransactionReceipt", (h,)) for of_block in hashes for h in of_block]
            )
        )
        return [[next(answers) for _ in of_block] for of_block in hashes]

    def _created(self, blocks: list[DecodedBlock]) -> list[list[bytes]]:
        """Contracts made by contracts; none where the node cannot trace the block."""
        created: dict[int, list[bytes]] = {}
        wanted = [b for b in blocks if any(t.ran_code for t in b.transactions)]
        tracers = self._tracers  # other threads may strike one off meanwhile
        if wanted and tracers:
            calls = [_trace_call(tracers[0], block) for block in wanted]
            for block, answer in zip(wanted, self._node.batch(calls), strict=True):
                if self._is_unsupported(tracers[0], answer):
                    log.info("the node does not offer %s: %s", calls[0].method, answer)
                    self._tracers = tuple(t for t in self._tracers if t != tracers[0])
                    return self._created(blocks)
                if self._is_traced(block, answer):
                    self._has_traced = True
                    created[block.number] = _created_in(block, answer)
        return [created.get(block.number, []) for block in blocks]

    def _is_unsupported(self, tracer: str, answer: Any) -> bool:
        """Whether the node has no such method, or has failed at it from the start."""
        if not isinstance(answer, RpcError) or self._has_traced:
            return False
        self._trace_errors[tracer] = self._trace_errors.get(tracer, 0) + 1
        return answer.is_missing_method or self._trace_errors[tracer] >= TRACE_ATTEMPTS

    def _is_traced(self, block: DecodedBlock, answer: Any) -> bool:
        """False where the node will never trace it; raises NodeError where it may yet."""
        if isinstance(answer, list):
            return True
        if isinstance(answer, RpcError) and answer.is_missing_state:
            return False
        failures = self._trace_failures[block.hash] = self._trace_failures.get(block.hash, 0) + 1
        if failures < TRACE_ATTEMPTS:
            raise NodeError(f"the node cannot trace block {block.number} now: {answer}")
        log.warning("block %d cannot be traced: %s", block.number, answer)
        return False


def _trace_call(tracer: str, block: DecodedBlock) -> Call:
    if tracer == "debug":
        options = {"tracer": "callTracer"}
        return Call("debug_traceBlockByHash", (to_hex(block.hash), options))
    return Call("trace_block", (hex(block.number),))


def _created_in(block: DecodedBlock, answer: Any) -> list[bytes]:
    """Created contracts in the order of transactions, but those that receipts name already."""
    try:
        if answer and "traceAddress" in answer[0]:
            if any(data(trace["blockHash"]) != block.hash for trace in answer):
                raise MalformedBlock(f"block {block.number}: its traces are another block's")
            pairs = created_in_flat_traces(answer)
        else:
            pairs = [
                (index, address)
                for index, entry in enumerate(answer)
                for address in created_addresses(entry.get("result"))
            ]
    except (BadHex, KeyError, TypeError, AttributeError) as error:
        raise MalformedBlock(f"block {block.number}: its traces are malformed: {error}") from error
    return [address for _, address in pairs]


def _present(answer: Any, number: int) -> Any:
    if isinstance(answer, RpcError):
        raise NodeError(f"the node refuses block {number}: {answer}")
    if answer is None:
        raise NodeError(f"the node does not have block {number} yet")
    return answer


def _require_all(receipts: list[Any], numbers: Sequence[int]) -> None:
    """Raises NodeError where the node has a block but not all of its receipts yet."""
    for of_block, number in zip(receipts, numbers, strict=True):
        if of_block is None:
            raise NodeError(f"the node does not have the receipts of block {number} yet")
        for receipt in of_block if isinstance(of_block, list) else []:
            if receipt is None:
                raise NodeError(f"the node does not have a receipt of block {number} yet")
            if isinstance(receipt, RpcError):
                raise NodeError(f"the node refuses a receipt of block {number}: {receipt}")


def _result(answer: Any) -> Any:
    if isinstance(answer, RpcError):
        raise answer
    return answer


def _hash(answer: Any) -> bytes | None:
    if isinstance(answer, RpcError) and not answer.is_missing_block:
        raise answer
    return None if answer is None or isinstance(answer, RpcError) else data(answer["hash"], 32)


def _checked(read: Callable[[], _T]) -> _T:
    try:
        return read()
    except (BadHex, KeyError, TypeError) as error:
        raise NodeError(f"the node's answer is malformed: {error}") from error
    except RpcError as error:
        raise NodeError(f"the node refuses: {error}") from error
