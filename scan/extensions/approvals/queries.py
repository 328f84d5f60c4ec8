"""An owner's approvals: the newest of each by its events, beside what the node says of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

from scan.cached_values import cached_property
from scan.errors import UpstreamFailed
from scan.ethereum.block_parameter import BlockId
from scan.extensions.approvals import events
from scan.extensions.approvals.events import ALLOWANCE, ITEM, OF_PERMIT2, OPERATOR, PERMIT2, Event
from scan.extensions.approvals.node_state import State, revoking, states
from scan.extensions.logs.node_logs import ANOTHER_CHAIN
from scan.hex import to_hex
from scan.queries.cursors import ORDINAL
from scan.queries.pages import Page, Window
from scan.queries.reader import Reader

KINDS = (ALLOWANCE, ITEM, OPERATOR, OF_PERMIT2)
MOST_ROWS = 100  # of a page, also of a file: each takes two or three calls of the node
MOST_TRANSFERS = 5_000  # of the owner, which uses are found among
MOST_SPENDERS = 100  # by Permit2, of a token approved for it
UNPROVEN = ("tokenSymbol", "tokenDecimals", "inForce", "amountNow", "difference", "atRisk")
MOST_TIME_S = 253_402_300_799  # a later expiry is none that is shown as a time


@dataclass(frozen=True)
class ApprovalPage(Page):
    """A page of approvals after block `block`; uses are known from the block `uses_from` on (None:
    all are), and `source` says where their events come from."""

    block: int | None = None
    uses_from: int | None = None
    source: str = "index"


class Approval(NamedTuple):
    """An approval's newest event, and the one that it is as large since."""

    newest: Event
    since: Event


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
        is_open = [in_force(a.newest, a.newest.amount, self._events.head_s) for a in listed]
        return _not_moved(
            self._reader, [a for a, is_in in zip(listed, is_open, strict=True) if is_in]
        )

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
        shown, more = (
            rest[window.offset : window.offset + limit],
            rest[window.offset + limit :],
        )
        head, head_s = self._events.head, self._events.head_s
        details, uses_from = self._details(shown, head)
        states_now = states(self._reader, self._owner, [a.newest for a in shown], head, head_s)
        records = [_record(*row, head_s) for row in zip(shown, details, states_now, strict=True)]
        return ApprovalPage(
            orjson.dumps(records).decode(),
            len(records),
            len(self._approvals),
            traversal.next(shown[-1].newest[:2] if more and shown else None),
            kept_from=self._reader.kept_from,
            complete_from=self._events.since or None,
            block=head.number,
            uses_from=uses_from,
            source=self._events.source,
        )

    def _details(
        self, shown: Sequence[Approval], head: BlockId
    ) -> tuple[list[dict[str, Any]], int | None]:
        """Return what the index knows of them, and from which block on it has looked for uses;
        raises UpstreamFailed where a fork has removed the head since the events were read."""
        users = [
            (position, user)
            for position, approval in enumerate(shown, 1)
            for user in (approval.newest.spender, *self._spenders_by_permit2(approval.newest))
        ]
        is_head, uses_from, rows = self._reader.row(
            "queries/approvals_get_details",
            owner=self._owner,
            tokens=[a.since.token for a in shown],
            blocks=[a.since.block_number for a in shown],
            transaction_indexes=[a.since.transaction_index for a in shown],
            log_indexes=[a.since.log_index for a in shown],
            users=[position for position, _ in users],
            user_addresses=[user for _, user in users],
            head=head.number,
            head_hash=head.hash,
            most=MOST_TRANSFERS,
        )
        details: list[dict[str, Any]] = orjson.loads(rows)
        if not is_head or len(details) != len(shown):
            raise UpstreamFailed(ANOTHER_CHAIN)
        return details, uses_from

    def _spenders_by_permit2(self, event: Event) -> list[bytes]:
        """Return who moves a token that is approved for Permit2, by what is approved there."""
        if event.kind != ALLOWANCE or event.spender != PERMIT2:
            return []
        return [*self._spenders_of_tokens.get(event.token, ())][:MOST_SPENDERS]

    @cached_property
    def _spenders_of_tokens(self) -> Mapping[bytes, Mapping[bytes, None]]:
        """The spenders that Permit2's events name, by token, in their order."""
        spenders: dict[bytes, dict[bytes, None]] = {}
        for event in self._events.events if self._events else ():
            if event.kind == OF_PERMIT2:
                spenders.setdefault(event.token, {})[event.spender] = None
        return spenders


def newest(ordered: Sequence[Event]) -> list[Approval]:
    """Return the newest event of each right, from the newest, of events in that order. What lowers
    an amount keeps the approval, as tokens say it that emit an event for each use."""
    approvals: dict[object, Approval] = {}
    closed = set()
    for event in ordered:
        approval = approvals.setdefault(event.right, Approval(event, event))
        after = approval.since
        if event is after or event.right in closed:
            continue
        if event.kind != ITEM and event.amount > after.amount > 0:
            approvals[event.right] = Approval(approval.newest, event)
        else:
            closed.add(event.right)
    return [*approvals.values()]


def in_force(event: Event, amount: int, head_s: int, expires: int | None = None) -> bool:
    expires = event.expires if expires is None else expires
    return amount > 0 and (expires is None or expires >= head_s)


def _not_moved(reader: Reader, approvals: Sequence[Approval]) -> Sequence[Approval]:
    """Return those whose item was not moved since, which clears its approval without an event."""
    items = [approval.newest for approval in approvals if approval.newest.kind == ITEM]
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
    event, token = approval.newest, details["token"] or {}
    held, at_risk = state.held, state.at_risk
    contract, calldata = revoking(event)
    if event.kind == OPERATOR and held is None and token.get("type") == "BEP1155":
        held = max(int(details["held"]), 0)  # of all ids together, which no call returns
        at_risk = held if state.amount else state.amount
    expires = event.expires if state.expires is None else state.expires
    return {
        "kind": event.kind,
        "tokenAddress": to_hex(event.token),
        **{f"token{key.capitalize()}": token.get(key) for key in ("symbol", "decimals")},
        "spender": to_hex(event.spender),
        "tokenId": None if event.token_id is None else str(event.token_id),
        "blockNumber": approval.since.block_number,
        "timestamp": details["timestamp"],
        "transactionHash": details["transactionHash"],
        "approvedBy": details["approvedBy"],
        "amount": str(event.amount),
        "expires": _moment(expires),
        "inForce": None if state.amount is None else in_force(event, state.amount, head_s, expires),
        "amountNow": _text(state.amount),
        "unavailable": state.problem,
        "difference": _difference(event, state),
        "atRisk": _text(at_risk),
        "lastUse": details["lastUse"],
        "lastUseAt": details["lastUseAt"],
        "revokeTo": to_hex(contract),
        "revokeData": calldata,
        "unproven": UNPROVEN,
    }


def _difference(event: Event, state: State) -> str | None:
    if state.amount is None or state.amount == event.amount:
        return None
    return "lower" if state.amount < event.amount else "higher"


def _text(value: int | None) -> str | None:
    return None if value is None else str(value)


def _moment(seconds: int | None) -> str | None:
    if seconds is None or seconds > MOST_TIME_S:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
