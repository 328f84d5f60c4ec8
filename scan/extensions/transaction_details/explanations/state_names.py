"""Changes of the state with the names of variables, where contracts' layouts are known."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.extensions.internal_transfers.transaction_traces import TraceFrame
from scan.extensions.transaction_details.contract_abis import Block
from scan.extensions.transaction_details.explanations.state_changes import (
    AccountChange,
    StateChanges,
)
from scan.extensions.transaction_details.storage.hashed_values import HashedValues
from scan.extensions.transaction_details.storage.queries import NamedStorage, names_of_changes
from scan.queries.reader import Reader

_Read = TypeVar("_Read")


def with_names(
    reader: Reader,
    changes: StateChanges,
    block: Block,
    frames: Callable[[], Sequence[TraceFrame]],
    hashed: Callable[[], HashedValues] = tuple,
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
    named = names_of_changes(reader, storages, block, calls, values, implementations)
    accounts = [
        _with_names(account, named[account.address]) if account.address in named else account
        for account in changes.accounts
    ]
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


def _with_names(account: AccountChange, named: NamedStorage) -> AccountChange:
    slots = [
        slot._replace(variables=named.variables.get(int.from_bytes(slot.slot), ()))
        for slot in account.slots
    ]
    layouts = [known.address for known in named.layouts]
    return account._replace(slots=slots, layouts=layouts, collisions=named.collisions)
