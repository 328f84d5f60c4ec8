"""What the node says of approvals now, in one batch of calls with bounds, and calls that revoke."""

from collections.abc import Sequence
from typing import NamedTuple

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.block_parameter import BlockId
from scan.ethereum.client import AnswerTooLarge, Call, RpcError
from scan.extensions.approvals.events import ALLOWANCE, ITEM, OF_PERMIT2, OPERATOR, PERMIT2, Event
from scan.hex import BadHex, data, to_hex
from scan.queries.reader import Reader

GAS = 500_000  # of each call
TIMEOUT_S = 3.0
MAX_RESPONSE_BYTES = 128 * 1024  # of a batch of answers, each of 96 bytes
ADDRESS_BITS, EXPIRES_BITS = 160, 48

REVERTED = "reverted"
MALFORMED = "malformed"
UNREAD = "unread"

ALLOWANCE_OF = "dd62ed3e"  # allowance(address,address)
BALANCE_OF = "70a08231"  # balanceOf(address)
GET_APPROVED = "081812fc"  # getApproved(uint256)
OWNER_OF = "6352211e"  # ownerOf(uint256)
IS_APPROVED_FOR_ALL = "e985e9c5"  # isApprovedForAll(address,address)
PERMIT2_ALLOWANCE = "927da105"  # allowance(address,address,address)
APPROVE = "095ea7b3"  # approve(address,uint256)
SET_APPROVAL_FOR_ALL = "a22cb465"  # setApprovalForAll(address,bool)
PERMIT2_APPROVE = "87517c45"  # approve(address,address,uint160,uint48)

Request = tuple[bytes, str]  # a contract and calldata


class State(NamedTuple):
    """An approval's amount as Event has it, None where `problem` says why it is not known; what its
    owner holds of it, and how much of that its spender may move; when it expires."""

    amount: int | None
    problem: str | None
    held: int | None
    at_risk: int | None
    expires: int | None = None


def states(
    reader: Reader, owner: bytes, events: Sequence[Event], head: BlockId, head_s: int
) -> list[State]:
    """Return the state of approvals at a block, whose time is in Unix seconds."""
    calls_of_events = [_calls(owner, event) for event in events]
    calls = [*dict.fromkeys(call for of_event in calls_of_events for call in of_event)]
    answers = dict(zip(calls, _answers(reader, calls, head), strict=True))
    return [
        _state(owner, event, [answers[call] for call in of_event], head_s)
        for event, of_event in zip(events, calls_of_events, strict=True)
    ]


def revoking(event: Event) -> Request:
    """Return the contract and the calldata with which the owner revokes an approval."""
    if event.kind == OF_PERMIT2:
        return _request(PERMIT2, PERMIT2_APPROVE, event.token, event.spender, 0, 0)
    if event.kind == OPERATOR:
        return _request(event.token, SET_APPROVAL_FOR_ALL, event.spender, 0)
    if event.kind == ITEM:
        return _request(event.token, APPROVE, 0, event.token_id or 0)
    return _request(event.token, APPROVE, event.spender, 0)


def _calls(owner: bytes, event: Event) -> list[Request]:
    token, spender, held = event.token, event.spender, _request(event.token, BALANCE_OF, owner)
    if event.kind == ITEM:
        token_id = event.token_id or 0
        return [_request(token, GET_APPROVED, token_id), _request(token, OWNER_OF, token_id)]
    if event.kind == OPERATOR:
        return [_request(token, IS_APPROVED_FOR_ALL, owner, spender), held]
    if event.kind == ALLOWANCE:
        return [_request(token, ALLOWANCE_OF, owner, spender), held]
    of_spender = _request(PERMIT2, PERMIT2_ALLOWANCE, owner, token, spender)
    return [of_spender, held, _request(token, ALLOWANCE_OF, owner, PERMIT2)]


def _request(contract: bytes, selector: str, *arguments: bytes | int) -> Request:
    values = [a if isinstance(a, int) else int.from_bytes(a) for a in arguments]
    return contract, f"0x{selector}{''.join(f'{value:064x}' for value in values)}"


def _answers(reader: Reader, calls: Sequence[Request], head: BlockId) -> list[Sequence[int] | str]:
    """Return the words of each answer, or the problem of one."""
    requests = [
        Call("eth_call", ({"to": to_hex(to), "data": calldata, "gas": hex(GAS)}, head))
        for to, calldata in calls
    ]
    try:
        results = reader.node.within(TIMEOUT_S).results(requests, MAX_RESPONSE_BYTES)
    except (UpstreamFailed, Unavailable):
        return [UNREAD] * len(calls)
    return [_words(result) for result in results]


def _words(result: object) -> Sequence[int] | str:
    if isinstance(result, AnswerTooLarge):
        return MALFORMED
    if isinstance(result, RpcError):
        return REVERTED if result.is_refusal else UNREAD
    try:
        words = data(result)[:96]
    except BadHex:
        return MALFORMED
    return [int.from_bytes(words[n : n + 32]) for n in range(0, len(words) // 32 * 32, 32)]


def _first(answer: Sequence[int] | str, bits: int = 256) -> int | None:
    return answer[0] if not isinstance(answer, str) and answer and answer[0] < 1 << bits else None


def _state(
    owner: bytes, event: Event, answers: Sequence[Sequence[int] | str], head_s: int
) -> State:
    said, held = answers[0], _first(answers[1])
    amount, expires = _first(said), None
    risks: Sequence[int | None]
    if event.kind == ALLOWANCE:
        risks = (amount, held)
    elif event.kind == OPERATOR:
        amount = _first(said, 1)
        risks = (held if amount else amount,)
    elif event.kind == ITEM:
        held = held if held is None else int(held == int.from_bytes(owner))
        approved = _first(said, ADDRESS_BITS)
        is_spender = approved == int.from_bytes(event.spender) > 0
        # Of an item that is another's by now, the approval is that one's.
        amount = approved if approved is None else int(is_spender and held != 0)
        risks = (amount,)
    else:
        is_whole = not isinstance(said, str) and len(said) > 1
        amount = _first(said, ADDRESS_BITS) if is_whole else None
        expires = _first(said[1:], EXPIRES_BITS) if is_whole else None
        risks = (amount, held, _first(answers[2])) if (expires or 0) >= head_s else (amount and 0,)
    problem = None if amount is not None else said if isinstance(said, str) else MALFORMED
    known = [risk for risk in risks if risk is not None]
    at_risk = min(known) if len(known) == len(risks) else None
    return State(amount, problem, held, at_risk, expires)
