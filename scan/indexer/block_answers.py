"""A node's answers to requests for blocks, checked. Errors in them are raised."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from scan.ethereum.blocks import BlockJson, MalformedBlock, read_json
from scan.ethereum.client import (
    MAX_ANSWER_BYTES,
    AnswerTooLarge,
    MalformedResponse,
    Node,
    NodeError,
    RpcError,
)
from scan.ethereum.transport import require_few_elements
from scan.hex import BadHex, data, quantity

_T = TypeVar("_T")
# Of what one node alone does not have right: a fault may pass. With several nodes each is asked.
READS = 3
UNREAD = (AnswerTooLarge, MalformedBlock)  # what stands for a part of a block that is not read yet


def read_part(result: Any, type_: Any, number: int) -> Any:
    """Return a result as the struct `type_`, or one of UNREAD; an error, or null, unchanged.

    Results come parsed over a socket, raw over HTTP.
    """
    if isinstance(result, msgspec.Raw):
        try:
            require_few_elements(memoryview(result), MAX_ANSWER_BYTES)
        except AnswerTooLarge as error:
            return error
    elif not isinstance(result, dict | list):
        return result
    try:
        return read_json(result, type_, number)
    except MalformedBlock as error:
        return error


def transaction_hashes(header: Any, number: int) -> list[Any]:
    if isinstance(header, UNREAD):
        return []
    block = read_json(header, BlockJson, number)
    return [transaction.hash for transaction in block.transactions]


class MissingPart(NodeError):
    """The node returns null or an error for a part of a block. pruned_history.py finds out why."""

    def __init__(self, message: str, *, number: int = 0) -> None:
        super().__init__(message)
        self.number = number


def present(answer: Any, name: str, number: int) -> Any:
    """Return the answer unchanged. Raises MissingPart if it is an error or null."""
    if isinstance(answer, UNREAD):
        return answer
    if isinstance(answer, RpcError):
        raise MissingPart(
            f"the node returned an error for {name} {number}: {answer}", number=number
        )
    if answer is None:
        raise MissingPart(f"the node does not have {name} {number}", number=number)
    return answer


def complete_receipts(receipts: Any, number: int) -> Any:
    """Return a block's receipts unchanged. Raises NodeError if the node lacks any of them."""
    present(receipts, "the receipts of block", number)
    for receipt in receipts if isinstance(receipts, list) else []:
        present(receipt, "a receipt of block", number)
    return receipts


def result_of(answer: Any) -> Any:
    if isinstance(answer, RpcError):
        raise answer
    return answer


def block_number(value: Any) -> int:
    number = quantity(value)
    if number >= 2**63:
        raise BadHex("a block number is beyond 63 bits")
    return number


def block_hash(answer: Any) -> bytes | None:
    if isinstance(answer, RpcError) and not answer.is_missing_block:
        raise answer
    return None if answer is None or isinstance(answer, RpcError) else data(answer["hash"], 32)


def checked_answer(read: Callable[[], _T]) -> _T:
    try:
        return read()
    except (BadHex, KeyError, TypeError) as error:
        raise MalformedResponse(f"the node's response is malformed: {error}") from error
    except RpcError as error:
        raise NodeError(f"the node returned an error: {error}") from error


def read_again(node: Node, read: Callable[[], _T]) -> _T:
    """Return what `read` returns. Where the response is malformed, the node rests, and the next one
    is asked. Raises MalformedResponse and MalformedBlock after READS."""
    for _ in range(READS - 1):
        try:
            return read()
        except (MalformedResponse, MalformedBlock):
            node.rest()
    return read()
