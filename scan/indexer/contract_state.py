"""Code, balances and answers of contracts as they stood at one block, whatever the node does since.

Asked by the block's hash (EIP-1898), so that a node which has moved to another fork, or one of
several behind a balancer, says that it has no such block rather than answer from its own.
"""

import logging
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from scan.ethereum.client import Call, Node, NodeError, RpcError
from scan.hex import BadHex, data, quantity, to_hex

log = logging.getLogger(__name__)

# A name() that makes its 10,000 characters in a loop takes 1.3 M; one that burns is bounded.
CALL_GAS = hex(3_000_000)


class At(NamedTuple):
    """A block by number and hash."""

    number: int
    hash: bytes


class Question(NamedTuple):
    """eth_call where there is call data, else eth_getCode."""

    address: bytes
    data: str | None
    at: At


class StateReader:
    """Raises NodeError wherever the node cannot say what stood at the very block asked for."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._takes_hashes = True

    def read(self, questions: Iterable[Question]) -> dict[Question, bytes | None]:
        """What contracts return, or their code; None where a call reverts.

        Where the node has pruned the state of a block, its newest has to do.
        """
        asked = list(dict.fromkeys(questions))
        answers = self._ask([(_method(q), _arguments(q), q.at) for q in asked])
        pruned = [
            at for at, a in enumerate(answers) if isinstance(a, RpcError) and a.is_missing_state
        ]
        latest = [Call(_method(asked[at]), (*_arguments(asked[at]), "latest")) for at in pruned]
        for at, answer in zip(pruned, self._node.batch(latest), strict=True):
            answers[at] = answer
        return {q: _bytes_or_revert(q, a) for q, a in zip(asked, answers, strict=True)}

    def balances(self, addresses: Sequence[bytes], at: At) -> list[int]:
        """In wei."""
        answers = self._ask([("eth_getBalance", (to_hex(a),), at) for a in addresses])
        return [_balance(answer) for answer in answers]

    def _ask(self, calls: Sequence[tuple[str, tuple[object, ...], At]]) -> list[Any]:
        answers = self._node.batch(
            [Call(method, (*arguments, self._block(at))) for method, arguments, at in calls]
        )
        refusals = [answer for answer in answers if isinstance(answer, RpcError)]
        if self._takes_hashes and any(refusal.is_invalid_params for refusal in refusals):
            log.info("the node takes no block hashes (EIP-1898); asking by number, then checking")
            self._takes_hashes = False
            return self._ask(calls)
        for refusal in refusals:
            if refusal.is_missing_block or refusal.is_passing:
                raise NodeError(f"the node cannot tell the state of a block now: {refusal}")
        if not self._takes_hashes:
            self._require_canonical({at for _, _, at in calls})
        return answers

    def _block(self, at: At) -> object:
        return {"blockHash": to_hex(at.hash)} if self._takes_hashes else hex(at.number)

    def _require_canonical(self, blocks: Iterable[At]) -> None:
        """What was asked by number was of these blocks, if the node has them still."""
        asked = list(blocks)
        answers = self._node.batch(
            [Call("eth_getBlockByNumber", (hex(at.number), False)) for at in asked]
        )
        for at, answer in zip(asked, answers, strict=True):
            if not isinstance(answer, dict) or answer.get("hash") != to_hex(at.hash):
                raise NodeError(f"block {at.number} changed while its state was read")


def _method(question: Question) -> str:
    return "eth_getCode" if question.data is None else "eth_call"


def _arguments(question: Question) -> tuple[object, ...]:
    to = to_hex(question.address)
    if question.data is None:
        return (to,)
    return ({"to": to, "data": question.data, "gas": CALL_GAS},)


def _bytes_or_revert(question: Question, answer: Any) -> bytes | None:
    if isinstance(answer, RpcError):
        if question.data is not None and not answer.is_missing_state:
            return None
        raise NodeError(f"the node refuses {_method(question)}: {answer}")
    try:
        return data(answer)
    except BadHex as error:
        method = _method(question)
        raise NodeError(f"the node's answer to {method} is malformed: {error}") from error


def _balance(answer: Any) -> int:
    if isinstance(answer, RpcError):
        raise NodeError(f"the node refuses a balance: {answer}")
    try:
        return quantity(answer)
    except BadHex as error:
        raise NodeError(f"the node's answer to eth_getBalance is malformed: {error}") from error
