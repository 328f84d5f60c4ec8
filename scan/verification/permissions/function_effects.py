"""What a function does to those who hold: by the events it emits, the functions it calls, and the
state variables it writes, by the names that standards and libraries give them."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scan.verification.permissions.inline_assembly import Assembly
from scan.verification.permissions.syntax_tree import Node, Place
from scan.verification.permissions.value_kinds import CALLER, Value

(
    MINT,
    BURN,
    PAUSE,
    FREEZE,
    FEES,
    UPGRADE,
    OWNERSHIP,
    ROLES,
    COIN,
    TOKENS,
    HOLDINGS,
    DELEGATECALL,
    SELFDESTRUCT,
    INITIALIZE,
) = (
    "mint",
    "burn",
    "pause",
    "freeze",
    "fees",
    "upgrade",
    "ownership",
    "roles",
    "sendCoin",
    "moveTokens",
    "moveHoldersTokens",
    "delegatecall",
    "selfdestruct",
    "initialize",
)

_PAUSE = r"paus|halted|stopped|trading_?(open|enabled|active|allowed|status)"
_FREEZE = r"black_?list|block_?list|deny_?list|froz|freez|sanction|banned|(^|_)is_?bot|^_?bots"
_BY_EVENT = (
    (PAUSE, re.compile(r"(un)?paused?|(un)?halted", re.I)),
    (FREEZE, re.compile(rf".*({_FREEZE}).*", re.I)),
    (FEES, re.compile(r".*(fee|tax)s?([A-Z_].*)?(updated|changed|set)", re.I)),
    (UPGRADE, re.compile(r"upgraded|beaconupgraded|diamondcut", re.I)),
    (OWNERSHIP, re.compile(r"ownershiptransfer(red|started)|adminchanged|new_?owner", re.I)),
    (INITIALIZE, re.compile(r"initialized", re.I)),
    (ROLES, re.compile(r"role(granted|revoked|adminchanged)", re.I)),
)
_BY_CALL = (
    (MINT, re.compile(r"_*(safe_?)?mint(batch|to)?", re.I)),
    (BURN, re.compile(r"_*burn(batch|from)?", re.I)),
    (COIN, re.compile(r"\.(send|sendvalue)|_*safetransfereth|sendvalue", re.I)),
    (TOKENS, re.compile(r"\.(safe)?transfer(from)?|\.forceapprove|\.(safe)?approve", re.I)),
    (DELEGATECALL, re.compile(r"\.(function)?(delegatecall|callcode)", re.I)),
    (SELFDESTRUCT, re.compile(r"\.(selfdestruct|suicide)", re.I)),
)
_BY_VARIABLE = (
    (PAUSE, re.compile(rf".*({_PAUSE}).*", re.I)),
    (FREEZE, re.compile(rf".*({_FREEZE}).*", re.I)),
    (FEES, re.compile(r".*(fee|tax)(?!d).*", re.I)),
    (UPGRADE, re.compile(r"_*(implementation|beacon|logic)", re.I)),
    (OWNERSHIP, re.compile(r"_*((pending|new)_?)?(owner|admin|governance|governor)", re.I)),
)
_BALANCES = re.compile(r"_*balances?(_?of)?|_*[rt]_?owned", re.I)
_LOWERING = ("-=", "--", "delete")
_SUPPLY = re.compile(r"_*total_?supply_*", re.I)


class Effect(NamedTuple):
    kind: str
    place: Place


class Write(NamedTuple):
    """A write of a state variable, by the number of its declaration."""

    variable: int
    name: str
    place: Place


def of_event(name: str, arguments: Sequence[Value], place: Place) -> Iterator[Effect]:
    """Yield what an event says: a transfer from nobody is a mint, one of others to nobody a
    burn, another one of others, or an approval of theirs, moves what they hold."""
    for kind, pattern in _BY_EVENT:
        if pattern.fullmatch(name):
            yield Effect(kind, place)
    first = 1 if name in ("TransferSingle", "TransferBatch") else 0
    if not name.startswith(("Transfer", "Approval")) or len(arguments) < first + 2:
        return
    holder, receiver = arguments[first : first + 2]
    is_transfer = name.startswith("Transfer")
    if holder.number == 0 or receiver.number == 0:
        if is_transfer and holder.number == 0:
            yield Effect(MINT, place)
        elif is_transfer and holder.kind != CALLER:
            yield Effect(BURN, place)
    elif not _is_of_caller(holder):
        yield Effect(HOLDINGS, place)


def _is_of_caller(holder: Value) -> bool:
    return holder.caller and not holder.arguments


def of_assembly(assembly: Assembly, place: Place) -> Iterator[Effect]:
    if assembly.delegates:
        yield Effect(DELEGATECALL, place)
    if assembly.destroys:
        yield Effect(SELFDESTRUCT, place)


def of_call(name: str, place: Place) -> Iterator[Effect]:
    """Yield what the call of a function does, one of another contract by its name after a dot."""
    for kind, pattern in _BY_CALL:
        if name and pattern.fullmatch(name):
            yield Effect(kind, place)


def without_moves(call: Sequence[Effect], run: Sequence[Effect]) -> list[Effect]:
    """Return what the called function runs: a mint or burn as such moves nobody's tokens, though
    a token with numbers reads a holder before it."""
    is_supply = any(effect.kind in (MINT, BURN) for effect in call)
    return [effect for effect in run if not (is_supply and effect.kind == HOLDINGS)]


class BalanceWrites:
    """The writes of balances in a call: one of another's that is lowered, and one that is raised,
    move tokens, whatever events say."""

    def __init__(self) -> None:
        self._lowered: Place | None = None
        self._is_raised = False

    def of(self, name: str, entry: Value, node: Node, place: Place) -> Iterator[Effect]:
        """Yield the effect of an assignment to an entry of a state variable."""
        if not _BALANCES.fullmatch(name) or not entry.keys:
            return
        if not _is_lowering(node):
            self._is_raised = True
        elif not any(_is_of_caller(key) for key in entry.keys):
            self._lowered = self._lowered or place
        if self._is_raised and self._lowered is not None:
            yield Effect(HOLDINGS, self._lowered)


def _is_lowering(assignment: Node) -> bool:
    """Return whether an assignment subtracts, as with a function of a library, or sets zero."""
    new = assignment.get("rightHandSide") or {}
    is_call_of_sub = (new.get("expression") or {}).get("memberName") == "sub"
    is_subtracted = new.get("operator") == "-" or is_call_of_sub or new.get("value") == "0"
    return assignment.get("operator") in _LOWERING or (
        assignment.get("operator") == "=" and is_subtracted
    )


def of_write(name: str, operator: str, place: Place, *, is_conditional: bool) -> Iterator[Effect]:
    """Yield what the write of a state variable does."""
    for kind, pattern in _BY_VARIABLE:
        if pattern.fullmatch(name):
            yield Effect(kind, place)
    if _SUPPLY.fullmatch(name) and operator == "+=" and not is_conditional:
        yield Effect(MINT, place)
