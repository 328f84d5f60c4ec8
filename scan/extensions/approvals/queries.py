"""An owner's approvals: the newest of each by its events, beside what the node says of it now, in
one batch of calls with bounds, and calls that revoke."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from scan.api.renamed_fields import recording
from scan.cached_values import cached_property
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.client import AnswerTooLarge, Call, RpcError
from scan.ethereum.served_chain import BlockId
from scan.extensions.approvals import events
from scan.extensions.logs.unstored_logs import ANOTHER_CHAIN
from scan.hex import BadHex, data, to_hex
from scan.parameters import LAST_TIME_S, moment
from scan.queries.cursors import ORDINAL
from scan.queries.filter_values import WITH_AMOUNTS
from scan.queries.list_pages import Page, Window
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
IS_OPERATOR = "b6363cf2"  # isOperator(address,address)
SET_OPERATOR = "558a7297"  # setOperator(address,bool)
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
    reader: Reader, owner: bytes, events: Sequence[events.Event], head: BlockId, head_s: int
) -> list[State]:
    """Return the state of approvals at a block, whose time is in Unix seconds."""
    calls_of_events = [_calls(owner, event) for event in events]
    calls = [*dict.fromkeys(call for of_event in calls_of_events for call in of_event)]
    answers = dict(zip(calls, _answers(reader, calls, head), strict=True))
    return [
        _state(owner, event, [answers[call] for call in of_event], head_s)
        for event, of_event in zip(events, calls_of_events, strict=True)
    ]


def revoking(event: events.Event) -> Request:
    """Return the contract and the calldata with which the owner revokes an approval."""
    if event.kind == events.OF_PERMIT2:
        return _request(events.PERMIT2, PERMIT2_APPROVE, event.token, event.spender, 0, 0)
    if event.kind == events.OPERATOR:
        function = SET_OPERATOR if event.is_set else SET_APPROVAL_FOR_ALL
        return _request(event.token, function, event.spender, 0)
    if event.kind == events.ITEM:
        return _request(event.token, APPROVE, 0, event.token_id or 0)
    return _request(event.token, APPROVE, event.spender, 0)


def _calls(owner: bytes, event: events.Event) -> list[Request]:
    token, spender, held = event.token, event.spender, _request(event.token, BALANCE_OF, owner)
    if event.kind == events.ITEM:
        token_id = event.token_id or 0
        return [_request(token, GET_APPROVED, token_id), _request(token, OWNER_OF, token_id)]
    if event.kind == events.OPERATOR:
        function = IS_OPERATOR if event.is_set else IS_APPROVED_FOR_ALL
        return [_request(token, function, owner, spender), held]
    if event.kind == events.ALLOWANCE:
        return [_request(token, ALLOWANCE_OF, owner, spender), held]
    of_spender = _request(events.PERMIT2, PERMIT2_ALLOWANCE, owner, token, spender)
    return [of_spender, held, _request(token, ALLOWANCE_OF, owner, events.PERMIT2)]


def _request(contract: bytes, selector: str, *arguments: bytes | int) -> Request:
    values = [a if isinstance(a, int) else int.from_bytes(a) for a in arguments]
    return contract, f"0x{selector}{''.join(f'{value:064x}' for value in values)}"


def _answers(reader: Reader, calls: Sequence[Request], head: BlockId) -> list[Sequence[int] | str]:
    """Return the words of each answer, or the problem of one."""
    params = [{"to": to_hex(to), "data": calldata, "gas": hex(GAS)} for to, calldata in calls]
    requests = [Call("eth_call", (call, head)) for call in params]
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
    owner: bytes, event: events.Event, answers: Sequence[Sequence[int] | str], head_s: int
) -> State:
    said, held = answers[0], _first(answers[1])
    amount, expires = _first(said), None
    risks: Sequence[int | None]
    if event.kind == events.ALLOWANCE:
        risks = (amount, held)
    elif event.kind == events.OPERATOR:
        amount = _first(said, 1)
        risks = (held if amount else amount,)
    elif event.kind == events.ITEM:
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
    known_risks = [risk for risk in risks if risk is not None]
    at_risk = min(known_risks) if len(known_risks) == len(risks) else None
    return State(amount, problem, held, at_risk, expires)


recorded = recording(__file__)
NO_TOKEN: dict[str, Any] = {"type": None, "symbol": None, "decimals": None}
KINDS = (events.ALLOWANCE, events.ITEM, events.OPERATOR, events.OF_PERMIT2)
MOST_ROWS = 100  # of a page, also of a file: each takes two or three calls of the node
MOST_TRANSFERS = 5_000  # of the owner, which uses are found among
MOST_SPENDERS = 100  # by Permit2, of a token approved for it
UNPROVEN = ("tokenSymbol", "tokenDecimals", "inForce", "amountNow", "difference", "atRisk")


@dataclass
class ApprovalPage(Page):
    """A page of approvals after block `block`; uses are known from the block `uses_from` on (None:
    all are), and `source` says where their events come from."""

    block: int | None = None
    uses_from: int | None = None
    source: str = "index"

    @property
    def more(self) -> Mapping[str, object]:
        return {"blockNumber": self.block, "source": self.source, "usesFrom": self.uses_from}


class Approval(NamedTuple):
    """An approval's newest event, and the one that it is as large since."""

    newest: events.Event
    since: events.Event


class Approvals:
    """The approvals of an owner for one request, whose pages read the events once."""

    def __init__(self, reader: Reader, owner: bytes, **filters: Any) -> None:
        """`filters`: token, spender, kind, and whether those are listed `ended` that are no more in
        force by their events."""
        self._reader = reader
        self._owner = owner
        self._filters = filters

    @cached_property
    def _events(self) -> events.Events | None:
        return events.read(self._reader, self._owner, self._filters.get("token"))

    @cached_property
    def _approvals(self) -> Sequence[Approval]:
        """All that match the filters, from the newest event."""
        if self._events is None:
            return ()
        token, spender, kind = (self._filters.get(name) for name in ("token", "spender", "kind"))
        listed = [
            approval
            for approval in newest(self._events.events)
            if token in (None, approval.newest.token)
            and spender in (None, approval.newest.spender)
            and kind in (None, approval.newest.kind)
        ]
        if self._filters.get("ended"):
            return listed
        head_s = self._events.head_s
        open_approvals = [a for a in listed if in_force(a.newest, a.newest.amount, head_s)]
        return _not_moved(self._reader, open_approvals)

    def page(self, window: Window) -> ApprovalPage:
        """Return a page, the newest approval first, of at most MOST_ROWS."""
        names = {**self._filters, "owner": self._owner}
        traversal = window.traversal("approvals", names, (ORDINAL, ORDINAL), has_blocks=False)
        if self._events is None:
            return ApprovalPage("[]", 0, 0)
        rest = self._approvals
        if traversal.cursor is not None:
            rest = [a for a in rest if a.newest[:2] < traversal.cursor.position]
        limit = min(window.limit, MOST_ROWS)
        end = window.offset + limit
        approvals, more = rest[window.offset : end], rest[end:]
        head, head_s = self._events.head, self._events.head_s
        details, uses_from = self._details(approvals, head)
        states_now = states(self._reader, self._owner, [a.newest for a in approvals], head, head_s)
        rows = zip(approvals, details, states_now, strict=True)
        records = [_record(*row, head_s) for row in rows]
        if self._events.source != "index":
            self._reader.reported |= {"approvals", "total"}
        return ApprovalPage(
            orjson.dumps(records).decode(),
            len(records),
            len(self._approvals),
            traversal.next(approvals[-1].newest[:2] if more and approvals else None),
            kept_from=self._events.kept_from,
            complete_from=self._events.since or None,
            block=head.number,
            uses_from=uses_from,
            source=self._events.source,
        )

    def _details(
        self, approvals: Sequence[Approval], head: BlockId
    ) -> tuple[list[dict[str, Any]], int | None]:
        """Return what the index knows of them, and from which block on it has looked for uses;
        raises UpstreamFailed where a fork has removed the head since the events were read."""
        users = [
            (position, user)
            for position, approval in enumerate(approvals, 1)
            for user in (approval.newest.spender, *self._spenders_by_permit2(approval.newest))
        ]
        is_head, uses_from, rows = self._reader.row(
            "queries/approvals_get_details",
            owner=self._owner,
            tokens=[a.since.token for a in approvals],
            blocks=[a.since.block_number for a in approvals],
            transaction_indexes=[a.since.transaction_index for a in approvals],
            log_indexes=[a.since.log_index for a in approvals],
            users=[position for position, _ in users],
            user_addresses=[user for _, user in users],
            head=head.number,
            head_hash=head.hash,
            most=MOST_TRANSFERS,
        )
        details: list[dict[str, Any]] = orjson.loads(rows)
        if not is_head or len(details) != len(approvals):
            raise UpstreamFailed(ANOTHER_CHAIN)
        return details, uses_from

    def _spenders_by_permit2(self, event: events.Event) -> list[bytes]:
        """Return who moves a token that is approved for Permit2, by what is approved there."""
        if event.kind != events.ALLOWANCE or event.spender != events.PERMIT2:
            return []
        return [*self._spenders_of_tokens.get(event.token, ())][:MOST_SPENDERS]

    @cached_property
    def _spenders_of_tokens(self) -> Mapping[bytes, Mapping[bytes, None]]:
        """The spenders that Permit2's events name, by token, in their order."""
        spenders: dict[bytes, dict[bytes, None]] = {}
        for event in self._events.events if self._events else ():
            if event.kind == events.OF_PERMIT2:
                spenders.setdefault(event.token, {})[event.spender] = None
        return spenders


def newest(ordered: Sequence[events.Event]) -> list[Approval]:
    """Return the newest event of each right, from the newest, of events in that order. What lowers
    an amount keeps the approval, as tokens say it that emit an event for each use."""
    approvals: dict[object, Approval] = {}
    closed = set()
    for event in ordered:
        approval = approvals.setdefault(event.right, Approval(event, event))
        after = approval.since
        if event is after or event.right in closed:
            continue
        if event.kind != events.ITEM and event.amount > after.amount > 0:
            approvals[event.right] = Approval(approval.newest, event)
        else:
            closed.add(event.right)
    return [*approvals.values()]


def in_force(event: events.Event, amount: int, head_s: int, expires: int | None = None) -> bool:
    expires = event.expires if expires is None else expires
    return amount > 0 and (expires is None or expires >= head_s)


def _not_moved(reader: Reader, approvals: Sequence[Approval]) -> Sequence[Approval]:
    """Return those whose item was not moved since, which clears its approval without an event."""
    items = [approval.newest for approval in approvals if approval.newest.kind == events.ITEM]
    if not items:
        return approvals
    [moved] = reader.row(
        "queries/approvals_list_moved",
        tokens=[item.token for item in items],
        ids=[item.token_id for item in items],
        blocks=[item.block_number for item in items],
        log_indexes=[item.log_index for item in items],
    )
    gone = {item for item, is_moved in zip(items, moved, strict=True) if is_moved}
    return [approval for approval in approvals if approval.newest not in gone]


def _record(
    approval: Approval, details: dict[str, Any], state: State, head_s: int
) -> dict[str, Any]:
    event, token = approval.newest, details["token"] or NO_TOKEN
    held, at_risk = state.held, state.at_risk
    contract, calldata = revoking(event)
    if event.kind == events.OPERATOR and held is None and token.get("type") in WITH_AMOUNTS:
        held = max(int(details["held"]), 0)  # of all ids together, which no call returns
        at_risk = held if state.amount else state.amount
    expires = event.expires if state.expires is None else state.expires
    fields = {**details, "event": event, "state": state, "since": approval.since, "token": token}
    return recorded("approval", fields | {"to": contract, "data": calldata}) | {
        "expires": _moment(expires),
        "inForce": None if state.amount is None else in_force(event, state.amount, head_s, expires),
        "difference": _difference(event, state),
        "atRisk": None if at_risk is None else str(at_risk),
        "unproven": UNPROVEN,
    }


def _difference(event: events.Event, state: State) -> str | None:
    if state.amount is None or state.amount == event.amount:
        return None
    return "lower" if state.amount < event.amount else "higher"


def _moment(seconds: int | None) -> str | None:
    if seconds is None or seconds > LAST_TIME_S:
        return None  # a later expiry is none that is shown as a time
    return moment(seconds)
