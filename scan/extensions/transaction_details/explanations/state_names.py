"""Changes of the state with the names of variables, where contracts' layouts are known."""

from collections.abc import Callable, Sequence

from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.extensions.internal_transfers.transaction_traces import TraceFrame
from scan.extensions.transaction_details.contract_abis import Block
from scan.extensions.transaction_details.explanations.state_changes import (
    AccountChange,
    StateChanges,
)
from scan.extensions.transaction_details.storage.queries import NamedStorage, names_of_changes
from scan.queries.reader import Reader


def with_names(
    reader: Reader,
    changes: StateChanges,
    block: Block,
    frames: Callable[[], Sequence[TraceFrame]],
) -> StateChanges:
    """Return changes at a block with the names of variables; `frames` reads the calls that made
    them, without which no keys of mappings are known."""

    def calls() -> Sequence[TraceFrame]:
        try:
            return frames()
        except TracesUnavailable:
            return ()
        except (UpstreamFailed, Unavailable):
            reader.do_not_cache()
            return ()

    storages = {account.address: account.words for account in changes.accounts if account.slots}
    named = names_of_changes(reader, storages, block, calls) if storages else {}
    accounts = [
        _with_names(account, named[account.address]) if account.address in named else account
        for account in changes.accounts
    ]
    return changes._replace(accounts=accounts)


def _with_names(account: AccountChange, named: NamedStorage) -> AccountChange:
    slots = [
        slot._replace(variables=named.variables.get(int.from_bytes(slot.slot), ()))
        for slot in account.slots
    ]
    layouts = [known.address for known in named.layouts]
    return account._replace(slots=slots, layouts=layouts, collisions=named.collisions)
