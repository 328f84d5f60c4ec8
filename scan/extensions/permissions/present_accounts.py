"""Who may call a contract's functions now: accounts in its state, and members of its roles.

What is read follows from the conditions in its source: a call of a function without arguments, or a
word of the storage, and from there a function of the contract at the address. Of a role, accounts
that events name are asked for by hasRole.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scan.contracts.abi import selector
from scan.errors import HistoryUnavailable, NotFound, Unavailable, UpstreamFailed
from scan.ethereum import past_state
from scan.ethereum.block_parameter import BlockId
from scan.ethereum.client import Call
from scan.ethereum.keccak import keccak256
from scan.extensions.logs import queries as logs
from scan.extensions.logs.log_filter import having_all
from scan.hex import BadHex, data, to_hex
from scan.queries.pages import Window
from scan.queries.reader import Reader

MAX_VALUES = 40  # that are read of a contract's state
MAX_STEPS = 3  # from one contract to the next
MAX_ROLES = 12
MAX_EVENTS = 100  # of a role, the newest
MAX_ACCOUNTS = 25  # of a role, that are asked for
CALL_GAS = hex(500_000)
TIMEOUT_S = 2.0
MAX_RESPONSE_BYTES = 256 * 1024
ADDRESS_BITS = 160


class _RoleForm(NamedTuple):
    """How a contract says who has a role: the event that grants it, and the function that is asked,
    which returns so many words, the first of which says whether an account has it."""

    granted: bytes
    has_role: bytes
    words: int


_ACCESS_CONTROL = _RoleForm(
    keccak256(b"RoleGranted(bytes32,address,address)"), selector("hasRole(bytes32,address)"), 1
)
_ACCESS_MANAGER = _RoleForm(
    keccak256(b"RoleGranted(uint64,address,uint32,uint48,bool)"),
    selector("hasRole(uint64,address)"),
    2,
)

Step = Mapping[str, Any]  # {call}, or {slot, offset, size}
Steps = tuple[tuple[tuple[str, Any], ...], ...]  # the same, as a key


class Role(NamedTuple):
    """A role at the contract that keeps it: of AccessControl, or of an AccessManager."""

    keeper: bytes
    number: int
    is_managed: bool = False

    @property
    def form(self) -> _RoleForm:
        return _ACCESS_MANAGER if self.is_managed else _ACCESS_CONTROL


class Members(NamedTuple):
    """Accounts that have a role now, of those that events name; `is_complete`: these were all."""

    accounts: Sequence[bytes]
    is_complete: bool


def key_of(steps: Sequence[Step]) -> Steps:
    return tuple(tuple(sorted(step.items())) for step in steps)


def values(
    reader: Reader, address: bytes, block: BlockId, wanted: Iterable[Steps]
) -> Mapping[Steps, int]:
    """Return the words that are read by steps, of the first MAX_VALUES; none where a call fails.

    Raises UpstreamFailed, Unavailable, HistoryUnavailable.
    """
    waiting = [steps for steps in dict.fromkeys(wanted) if 0 < len(steps) <= MAX_STEPS]
    reached = {steps: int.from_bytes(address) for steps in waiting[:MAX_VALUES]}
    node = reader.node.within(TIMEOUT_S)
    for position in range(MAX_STEPS):
        chains = [
            s for s, word in reached.items() if position < len(s) and not word >> ADDRESS_BITS
        ]
        calls = [_call(reached[s].to_bytes(20), dict(s[position]), block) for s in chains]
        results = past_state.read(node, block, calls, MAX_RESPONSE_BYTES)
        for steps, result in zip(chains, results, strict=True):
            word = _word(result, dict(steps[position]))
            if word is None:
                del reached[steps]
            else:
                reached[steps] = word
    return reached


def _call(address: bytes, step: Step, block: BlockId) -> Call:
    if "slot" in step:
        return Call("eth_getStorageAt", (to_hex(address), hex(int(step["slot"])), block))
    return eth_call(address, selector(str(step["call"])), block)


def eth_call(address: bytes, calldata: bytes, block: BlockId) -> Call:
    call = {"to": to_hex(address), "data": to_hex(calldata), "gas": CALL_GAS}
    return Call("eth_call", (call, block))


def words(result: object, count: int) -> list[int] | None:
    """Return so many words of a result; None for an error, and for what has not this length."""
    try:
        content = data(result) if isinstance(result, str) else b""
    except BadHex:
        return None
    if len(content) != 32 * count:
        return None
    return [int.from_bytes(content[at : at + 32]) for at in range(0, len(content), 32)]


def _word(result: object, step: Step) -> int | None:
    """Return the word of a result; None for an error, and for what is no word."""
    if (of_result := words(result, 1)) is None:
        return None
    [word] = of_result
    if "slot" not in step:
        return word
    return word >> 8 * int(step["offset"]) & (1 << 8 * int(step["size"])) - 1


def account(word: int | None) -> bytes | None:
    """Return the account of a word; None for one that is no address."""
    return None if word is None or word >> ADDRESS_BITS else word.to_bytes(20)


def members(reader: Reader, block: BlockId, roles: Iterable[Role]) -> Mapping[Role, Members]:
    """Return who has each role, of the first MAX_ROLES; none where its contract does not say it.

    Raises UpstreamFailed, Unavailable, HistoryUnavailable.
    """
    candidates = {}
    for role in list(dict.fromkeys(roles))[:MAX_ROLES]:
        if (named := _named(reader, role)) is not None:
            candidates[role] = named
    pairs = [(role, who) for role, named in candidates.items() for who in named.accounts]
    calls = [_has_role(role, who, block) for role, who in pairs]
    results = past_state.read(reader.node.within(TIMEOUT_S), block, calls, MAX_RESPONSE_BYTES)
    answers = {
        (role, who): words(result, role.form.words)
        for (role, who), result in zip(pairs, results, strict=True)
    }
    return {
        role: Members(
            [who for who in named.accounts if (answers[role, who] or [0])[0]], named.is_complete
        )
        for role, named in candidates.items()
        if all(answers[role, who] is not None for who in named.accounts)
    }


def _named(reader: Reader, role: Role) -> Members | None:
    """Return the accounts that events of a role name, the newest first; None where logs are not
    known."""
    topics = [role.form.granted, role.number.to_bytes(32), None, None]
    try:
        page = logs.records(reader, Window(MAX_EVENTS, 0), having_all(role.keeper, topics))
    except (NotFound, UpstreamFailed, Unavailable, HistoryUnavailable):
        reader.do_not_cache()
        return None
    named = dict.fromkeys(data(log["topics"][2])[12:] for log in page.records)
    is_complete = page.next is None and len(named) <= MAX_ACCOUNTS
    return Members([*named][:MAX_ACCOUNTS], is_complete)


def _has_role(role: Role, who: bytes, block: BlockId) -> Call:
    calldata = role.form.has_role + role.number.to_bytes(32) + who.rjust(32, b"\0")
    return eth_call(role.keeper, calldata, block)
