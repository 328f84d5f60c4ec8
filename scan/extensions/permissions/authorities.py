"""What authorities answer now, contracts that decide who may call functions of others: which role a
function needs, and whether anybody may call it (OpenZeppelin's AccessManager, IAuthority).

Anybody may have written an authority: what it answers is said as its answer, never as a fact.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from scan.contracts.abi import selector
from scan.ethereum import past_state
from scan.ethereum.block_parameter import BlockId
from scan.ethereum.keccak import keccak256
from scan.extensions.permissions.present_accounts import (
    MAX_RESPONSE_BYTES,
    TIMEOUT_S,
    eth_call,
    words,
)
from scan.queries.reader import Reader

MAX_QUESTIONS = 60
PUBLIC_ROLE = 2**64 - 1  # of AccessManager: everybody has it

_CAN_CALL = selector("canCall(address,address,bytes4)")
_FUNCTION_ROLE = selector("getTargetFunctionRole(address,bytes4)")
_IS_CLOSED = selector("isTargetClosed(address)")


class Question(NamedTuple):
    """Who may call a function, by its selector, of the contract whose address is asked for."""

    authority: bytes
    selector: bytes


class Answer(NamedTuple):
    """Which role a function needs, whether the authority lets nobody call the contract, and whether
    it lets an account call the function that nobody has a key of; None where it does not say so."""

    role: int | None
    is_closed: bool | None
    is_everybody: bool | None


def answers(
    reader: Reader, target: bytes, block: BlockId, questions: Iterable[Question]
) -> Mapping[Question, Answer]:
    """Return what authorities answer of functions of a target, of the first MAX_QUESTIONS.

    Raises UpstreamFailed, Unavailable, HistoryUnavailable.
    """
    distinct = list(dict.fromkeys(questions))[:MAX_QUESTIONS]
    target_word = target.rjust(32, b"\0")
    calls = []
    for question in distinct:
        function = question.selector.ljust(32, b"\0")
        stranger = keccak256(b"".join(question) + target)[-20:].rjust(32, b"\0")
        calls += [
            eth_call(question.authority, data, block)
            for data in (
                _FUNCTION_ROLE + target_word + function,
                _IS_CLOSED + target_word,
                _CAN_CALL + stranger + target_word + function,
            )
        ]
    results = past_state.read(reader.node.within(TIMEOUT_S), block, calls, MAX_RESPONSE_BYTES)
    groups = zip(results[::3], results[1::3], results[2::3], strict=True)
    return {q: _answer(*group) for q, group in zip(distinct, groups, strict=True)}


def _answer(role: object, closed: object, can_call: object) -> Answer:
    numbers, flags = words(role, 1), words(closed, 1)
    # AccessManager answers whether at once, and else after which delay; others the first alone.
    allowed = words(can_call, 2) or words(can_call, 1)
    return Answer(
        numbers[0] if numbers and numbers[0] <= PUBLIC_ROLE else None,
        bool(flags[0]) if flags and flags[0] <= 1 else None,
        any(allowed) if allowed else None,
    )
