"""Changes of the state by a transaction, as prestateTracer and stateDiff give them."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from eth_hash.auto import keccak

from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.internal_transfers.transaction_traces import CACHE_BYTES, TraceKind
from scan.extensions.transaction_details.storage.changed_variables import VariableChange, Words
from scan.extensions.transaction_details.storage.collisions import ContractCollision
from scan.hex import BadHex, data, quantity, to_hex

MAX_ACCOUNTS = 500
MAX_SLOTS = 2000  # of all accounts together
ACCOUNT_BYTES = 1500  # memory, measured
SLOT_BYTES = 400
STATE_TRACER = {"tracer": "prestateTracer", "tracerConfig": {"diffMode": True}}
STATE = (
    ("debug_traceTransaction", STATE_TRACER),
    ("trace_replayTransaction", ["stateDiff"]),
)


class Code(NamedTuple):
    size: int
    hash: bytes


class SlotChange(NamedTuple):
    """The words of a slot. `variables` are those in it that changed, where a layout names them."""

    slot: bytes
    before: bytes
    after: bytes
    variables: Sequence[VariableChange] = ()

    def record(self) -> dict[str, Any]:
        words = {"slot": self.slot, "before": self.before, "after": self.after}
        variables = [variable.record() for variable in self.variables]
        return {**{name: to_hex(word) for name, word in words.items()}, "variables": variables}


class AccountChange(NamedTuple):
    """The changes of an account. Each pair is the value before and after, None where it did not
    change. In the pair of `code`, None is an account without code. `layouts` are the contracts
    whose layouts name slots, `collisions` those of two implementations, where it got another."""

    address: bytes
    balance: tuple[int, int] | None
    nonce: tuple[int, int] | None
    code: tuple[Code | None, Code | None] | None
    slots: Sequence[SlotChange]
    layouts: Sequence[bytes] = ()
    collisions: Sequence[ContractCollision] = ()

    @property
    def words(self) -> Words:
        """The words of changed slots, before and after."""
        return {int.from_bytes(slot.slot): (slot.before, slot.after) for slot in self.slots}

    @property
    def gained(self) -> int:
        """The wei by which the balance grew; negative where it fell."""
        before, after = self.balance or (0, 0)
        return after - before

    def record(self) -> dict[str, Any]:
        return {
            "address": to_hex(self.address),
            "balance": self.balance and _numbers(*self.balance),
            "nonce": self.nonce and _numbers(*self.nonce),
            "code": self.code
            and {"before": _code_record(self.code[0]), "after": _code_record(self.code[1])},
            "storage": [slot.record() for slot in self.slots],
            "layouts": [*map(to_hex, self.layouts)],
            "collisions": [collision.record() for collision in self.collisions],
        }


def _numbers(before: int, after: int) -> dict[str, str]:
    return {"before": str(before), "after": str(after)}


def _code_record(code: Code | None) -> dict[str, Any] | None:
    return None if code is None else {"size": code.size, "hash": to_hex(code.hash)}


class StateChanges(NamedTuple):
    """The first MAX_ACCOUNTS changed accounts by address, with the first MAX_SLOTS changed slots.
    The counts are of all of them."""

    accounts: Sequence[AccountChange]
    account_count: int
    slot_count: int

    @property
    def is_truncated(self) -> bool:
        shown = sum(len(account.slots) for account in self.accounts)
        return len(self.accounts) < self.account_count or shown < self.slot_count

    def size(self) -> int:
        slots = sum(len(account.slots) for account in self.accounts)
        return ACCOUNT_BYTES * (1 + len(self.accounts)) + SLOT_BYTES * slots


class _Account(NamedTuple):
    """An account before or after the transaction, in the node's form. None: no value, or one that
    did not change."""

    balance: Any = None
    nonce: Any = None
    code: Any = None
    storage: Mapping[str, Any] = {}


def read_prestate(answer: Mapping[str, Any]) -> StateChanges:
    """Read the result of prestateTracer with diffMode: `post` has the changed values, `pre` the
    values before.

    An account that is only in `pre` was destroyed, one that is only in `post` created. Raises
    BadHex, KeyError, TypeError or AttributeError where the result is malformed.
    """
    pre, post = _by_address(answer["pre"]), _by_address(answer["post"])
    return _changes(
        {
            address: _compared(pre.get(address), post.get(address))
            for address in sorted({*pre, *post})
        }
    )


def _by_address(accounts: Mapping[str, Any]) -> dict[bytes, Mapping[str, Any]]:
    return {data(address, 20): account for address, account in accounts.items()}


def _compared(
    pre: Mapping[str, Any] | None, post: Mapping[str, Any] | None
) -> tuple[_Account, _Account]:
    before = _account(pre or {})
    if post is None:  # destroyed
        return before, _Account()
    after = _account(post)
    return before, _Account(
        before.balance if after.balance is None else after.balance,
        before.nonce if after.nonce is None else after.nonce,
        before.code if after.code is None else after.code,
        after.storage,
    )


def _account(values: Mapping[str, Any]) -> _Account:
    return _Account(
        values.get("balance"), values.get("nonce"), values.get("code"), values.get("storage") or {}
    )


def read_state_diff(accounts: Mapping[str, Any]) -> StateChanges:
    """Read the stateDiff of trace_replayTransaction. Each value is "=" where it did not change, or
    an object with the value before ("-"), after ("+"), or both ("*"). Raises as read_prestate()."""
    return _changes(
        {address: _of_diff(account) for address, account in sorted(_by_address(accounts).items())}
    )


def _of_diff(account: Mapping[str, Any]) -> tuple[_Account, _Account]:
    balance, nonce, code = (_sides(account.get(name)) for name in ("balance", "nonce", "code"))
    slots = {slot: _sides(change) for slot, change in (account.get("storage") or {}).items()}
    before, after = ({slot: sides[n] for slot, sides in slots.items()} for n in (0, 1))
    return (
        _Account(balance[0], nonce[0], code[0], before),
        _Account(balance[1], nonce[1], code[1], after),
    )


def _sides(change: Any) -> tuple[Any, Any]:
    if change is None or change == "=":
        return None, None
    if "*" in change:
        return change["*"]["from"], change["*"]["to"]
    return change.get("-"), change.get("+")


def _changes(accounts: Mapping[bytes, tuple[_Account, _Account]]) -> StateChanges:
    changes: list[AccountChange] = []
    slot_count, account_count = 0, 0
    for address, (before, after) in accounts.items():
        slots = _slots(before.storage, after.storage)
        codes = _code(before.code), _code(after.code)
        change = AccountChange(
            address,
            _pair(_quantity(before.balance), _quantity(after.balance)),
            _pair(_quantity(before.nonce), _quantity(after.nonce)),
            None if codes[0] == codes[1] else codes,
            tuple(islice(slots, max(MAX_SLOTS - slot_count, 0))),
        )
        if change[1:4] == (None, None, None) and not slots:
            continue
        account_count += 1
        slot_count += len(slots)
        if len(changes) < MAX_ACCOUNTS:
            changes.append(change)
    return StateChanges(changes, account_count, slot_count)


def _pair(before: int, after: int) -> tuple[int, int] | None:
    return None if before == after else (before, after)


def _code(value: Any) -> Code | None:
    code = data(value or "0x")
    return Code(len(code), keccak(code)) if code else None


def _quantity(value: Any) -> int:
    """Return a QUANTITY as int; some nodes give nonces as numbers, and null is 0."""
    if value is None:
        return 0
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64:
        return value
    return quantity(value)


def _slots(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[SlotChange]:
    old, new = ({_word(k): _word(v) for k, v in side.items()} for side in (before, after))
    empty = bytes(32)
    changes = (
        SlotChange(slot, old.get(slot, empty), new.get(slot, empty)) for slot in {*old, *new}
    )
    return sorted(change for change in changes if change.before != change.after)


def _word(value: Any) -> bytes:
    """Return a word as 32 bytes; some nodes leave out leading zeros, and null is 0."""
    if value is None:
        return bytes(32)
    if not isinstance(value, str) or not 3 <= len(value) <= 66:
        raise BadHex("a slot of the storage is not 32 bytes")
    return quantity(value).to_bytes(32, "big")


def _is_trace(method: str, answer: Any) -> bool:
    key = "pre" if method == "debug_traceTransaction" else "stateDiff"
    return isinstance(answer, dict) and key in answer


def _read(_indexed: IndexedTransaction, method: str, answer: Any) -> StateChanges:
    if method == "debug_traceTransaction":
        return read_prestate(answer)
    return read_state_diff(answer["stateDiff"])


STATE_CHANGES = TraceKind("state", STATE, _is_trace, _read, StateChanges.size, CACHE_BYTES // 2)
