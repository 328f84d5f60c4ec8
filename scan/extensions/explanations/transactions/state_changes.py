"""Changes of the state by a transaction, as prestateTracer and stateDiff give them: with the names
of variables, where contracts' layouts are known, and whether a contract's state changed as its
event says, since a contract can emit any event.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from scan.api.renamed_fields import recording
from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.ethereum import client, request_node
from scan.ethereum.rlp_and_tries import keccak256
from scan.ethereum.served_chain import BlockId
from scan.ethereum.token_metadata import word
from scan.extensions.decoding.contract_abis import Block
from scan.extensions.explanations.storage import mapping_keys, queries, slot_names
from scan.extensions.explanations.transactions.summary_facts import topic_of
from scan.extensions.traces.transaction_traces import CACHE_BYTES, TraceFrame, TraceKind
from scan.hex import BadHex, data, quantity, to_hex
from scan.queries.reader import Reader

recorded = recording(__file__)

MAX_ACCOUNTS = 500
MAX_SLOTS = 2000  # of all accounts together
ACCOUNT_BYTES = 1500  # memory, measured
SLOT_BYTES = 400
STATE_TRACER = {"tracer": "prestateTracer", "tracerConfig": {"diffMode": True}}
STATE = (("debug_traceTransaction", STATE_TRACER), ("trace_replayTransaction", ["stateDiff"]))


class Code(NamedTuple):
    size: int
    hash: bytes

    def record(self) -> dict[str, Any]:
        return recorded("code", self)


class SlotChange(NamedTuple):
    """The words of a slot. `variables` are those in it that changed, where a layout names them."""

    slot: bytes
    before: bytes
    after: bytes
    variables: Sequence[slot_names.VariableChange] = ()

    def record(self) -> dict[str, Any]:
        return recorded("slot_change", self)


class AccountChange(NamedTuple):
    """The changes of an account. Each pair is the value before and after, None where it did not
    change. In the pair of `code`, None is an account without code. `layouts` are the contracts
    whose layouts name slots."""

    address: bytes
    balance: tuple[int, int] | None
    nonce: tuple[int, int] | None
    code: tuple[Code | None, Code | None] | None
    slots: Sequence[SlotChange]
    layouts: Sequence[bytes] = ()

    @property
    def words(self) -> slot_names.Words:
        """The words of changed slots, before and after."""
        return {int.from_bytes(slot.slot): (slot.before, slot.after) for slot in self.slots}

    @property
    def gained(self) -> int:
        """The wei by which the balance grew; negative where it fell."""
        before, after = self.balance or (0, 0)
        return after - before

    def record(self) -> dict[str, Any]:
        return recorded("account_change", self, pair=_before_and_after, counts=_counts)


def _counts(values: tuple[int, int] | None) -> dict[str, int] | None:
    return None if values is None else {"before": values[0], "after": values[1]}


def _before_and_after(values: tuple[Any, Any] | None) -> dict[str, Any] | None:
    """Return a value before and after: a number as text, or code as a record."""
    if values is None:
        return None
    before, after = (str(v) if isinstance(v, int) else v and v.record() for v in values)
    return {"before": before, "after": after}


class StateChanges(NamedTuple):
    """The first MAX_ACCOUNTS changed accounts by address, with the first MAX_SLOTS changed slots.
    The counts are of all of them."""

    accounts: Sequence[AccountChange]
    account_count: int
    slot_count: int

    @property
    def is_truncated(self) -> bool:
        slots = sum(len(account.slots) for account in self.accounts)
        return len(self.accounts) < self.account_count or slots < self.slot_count

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
    pre, post = _keyed_accounts(answer["pre"]), _keyed_accounts(answer["post"])
    addresses = sorted({*pre, *post})
    return _changes(
        {address: _compared(pre.get(address), post.get(address)) for address in addresses}
    )


def _keyed_accounts(accounts: Mapping[str, Any]) -> dict[bytes, Mapping[str, Any]]:
    return {data(address, 20): account for address, account in accounts.items()}


def _compared(
    pre: Mapping[str, Any] | None, post: Mapping[str, Any] | None
) -> tuple[_Account, _Account]:
    before = _account(pre or {})
    if post is None:  # destroyed
        return before, _Account()
    after = _account(post)
    values = [old if new is None else new for old, new in zip(before, after, strict=True)]
    return before, _Account._make(values)


def _account(values: Mapping[str, Any]) -> _Account:
    return _Account(
        values.get("balance"), values.get("nonce"), values.get("code"), values.get("storage") or {}
    )


def read_state_diff(accounts: Mapping[str, Any]) -> StateChanges:
    """Read the stateDiff of trace_replayTransaction. Each value is "=" where it did not change, or
    an object with the value before ("-"), after ("+"), or both ("*"). Raises as read_prestate()."""
    by_address = sorted(_keyed_accounts(accounts).items())
    return _changes({address: _sides_of_account(account) for address, account in by_address})


def _sides_of_account(account: Mapping[str, Any]) -> tuple[_Account, _Account]:
    values = [_sides(account.get(name)) for name in ("balance", "nonce", "code")]
    slots = {slot: _sides(change) for slot, change in (account.get("storage") or {}).items()}
    storages = [{slot: sides[n] for slot, sides in slots.items()} for n in (0, 1)]
    before, after = map(_Account._make, zip(*values, storages, strict=True))
    return before, after


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
    return Code(len(code), keccak256(code)) if code else None


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


def _read(answer: Mapping[str, Any]) -> StateChanges:
    diff = answer.get("stateDiff")
    return read_prestate(answer) if diff is None else read_state_diff(diff)


STATE_CHANGES = TraceKind(
    "state", STATE, ("pre", "stateDiff"), _read, StateChanges.size, CACHE_BYTES // 2
)


_Read = TypeVar("_Read")


def named_changes(
    reader: Reader,
    changes: StateChanges,
    block: Block,
    frames: Callable[[], Sequence[TraceFrame]],
    hashed: Callable[[], mapping_keys.HashedValues] = tuple,
    replaced: Collection[bytes] = (),
    implementations: Mapping[bytes, tuple[bytes, ...]] = {},
) -> StateChanges:
    """Return changes at a block with the names of variables. `frames` reads the calls that made
    them, `hashed` what they hashed; keys of mappings are known of these alone. At the addresses
    `replaced` other code ran than the chain's; `implementations` are those of proxies that have
    others than at the block."""
    storages = {
        account.address: account.words
        for account in changes.accounts
        if account.slots and account.address not in replaced
    }
    if not storages:
        return changes
    calls, values = _if_given(reader, frames), _if_given(reader, hashed)
    names_of = queries.names_of_changes(reader, storages, block, calls, values, implementations)
    accounts = [_with_names(account, names_of.get(account.address)) for account in changes.accounts]
    return changes._replace(accounts=accounts)


def _if_given(reader: Reader, read: Callable[[], Sequence[_Read]]) -> Callable[[], Sequence[_Read]]:
    """Return a function that reads what the node may not give: then nothing."""

    def attempt() -> Sequence[_Read]:
        try:
            return read()
        except TracesUnavailable:
            return ()
        except (UpstreamFailed, Unavailable):
            reader.do_not_cache()
            return ()

    return attempt


def _with_names(account: AccountChange, storage: queries.NamedStorage | None) -> AccountChange:
    if storage is None:
        return account
    slots = [
        slot._replace(variables=storage.variables.get(int.from_bytes(slot.slot), ()))
        for slot in account.slots
    ]
    layouts = [layout.address for layout in storage.layouts]
    return account._replace(slots=slots, layouts=layouts)


TIMEOUT_S = 0.5
CALL_GAS = 1_000_000
MAX_BYTES = 64 * 1024  # of all results


def has_changed(
    node: request_node.NodeSession,
    state: Mapping[str, Any],
    contract: bytes,
    words: Sequence[bytes],
    before_and_after: Sequence[BlockId],
) -> bool | None:
    """Return whether the contract returns the value that a form's `state` expects after a block,
    and did not after the block before it; None where the node does not answer now.

    Nodes have the state before and after a block only, so the result may be False where one block
    changes it twice. It is False, too, where the node does not keep the state.
    """
    expected = state.get("value")
    if expected is None:
        expected = int.from_bytes(words[state["word"]])
    arguments = b"".join(words[index] for index in state["arguments"])
    calldata = to_hex(topic_of(state["call"])[:4] + arguments)
    call = {"to": to_hex(contract), "data": calldata, "gas": hex(CALL_GAS)}
    reads: list[tuple[str, tuple[object, ...]]] = [("eth_call", (call,))]
    if "slot" in state:
        reads.append(("eth_getStorageAt", (to_hex(contract), state["slot"])))
    calls = [
        client.Call(method, (*parameters, block))
        for block in before_and_after
        for method, parameters in reads
    ]
    try:
        answers = node.within(TIMEOUT_S).results(calls, MAX_BYTES)
    except (UpstreamFailed, Unavailable):
        return None
    if any(isinstance(answer, client.RpcError) and answer.is_missing_block for answer in answers):
        return None
    results = [*map(_number, answers)]
    before, after = results[: len(results) // 2], results[len(results) // 2 :]
    return any(
        new == expected and old is not None and old != expected
        for new, old in zip(after, before, strict=True)
    )


def _number(result: object) -> int | None:
    """Return the word in a result as a number; None for an error, or any other result."""
    try:
        return word(data(result))
    except BadHex:
        return None
