"""Names of changed slots, with the layouts of verified contracts and the implementations of
proxies, which the node knows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from scan.contracts.known_proxies import IMPLEMENTATION_SLOT
from scan.contracts.proxy_contracts import Proxy, Words
from scan.errors import Unavailable, UpstreamFailed
from scan.extensions.decoding.contract_abis import Block, ContractAbis
from scan.extensions.explanations.storage import layout, mapping_keys, slot_names
from scan.extensions.traces.transaction_traces import TraceFrame
from scan.hex import quantity
from scan.queries.reader import Reader

MAX_CONTRACTS = 50  # whose slots are named; those with most changed slots first
MAX_FACETS = 8  # of a proxy, whose layouts are used
MAX_FEW = 200  # words or slots; names of more may take the processor 0.2 s
MAX_FEW_VARIABLES = 2_000  # of layouts together, likewise
_ByAddress = Mapping[bytes, Mapping[int, Sequence[slot_names.VariableChange]]]
_IMPLEMENTATION = quantity(IMPLEMENTATION_SLOT)


class NamedStorage(NamedTuple):
    """The variables in changed slots of a contract by slot, and the contracts whose layouts name
    them."""

    variables: Mapping[int, Sequence[slot_names.VariableChange]]
    layouts: Sequence[layout.KnownLayout] = ()


def names_of_changes(
    reader: Reader,
    storages: Mapping[bytes, slot_names.Words],
    block: Block,
    frames: Callable[[], Sequence[TraceFrame]],
    hashed: Callable[[], mapping_keys.HashedValues],
    implementations: Mapping[bytes, tuple[bytes, ...]] = {},
) -> dict[bytes, NamedStorage]:
    """Return the names of what changed in the storage of contracts, by address. `frames` reads the
    calls that did it, if any contract has a layout, `hashed` what they hashed, if that does not
    name all slots. `implementations` are those of proxies that have others than at the block."""
    by_count = sorted(storages, key=lambda address: -len(storages[address]))
    chosen = {address: storages[address] for address in by_count[:MAX_CONTRACTS]}
    targets = implementations_at(reader, [a for a in chosen if a not in implementations], block)
    for address, words in chosen.items():
        codes = implementations.get(address) or targets.get(address, ())
        targets[address] = (*codes[:MAX_FACETS], *_replaced(words))
    addresses = [code for address in chosen for code in (*targets[address], address)]
    layout_of = reader.sources.get(layout.StorageLayouts).of(addresses)
    candidates = mapping_keys.Candidates(())
    if layout_of:
        words_of = [pair for words in chosen.values() for pair in words.values()]
        candidates = mapping_keys.candidates_of(
            frames(), [word for pair in words_of for word in pair[::-1]]
        )
        _hold_for(reader, layout_of.values(), max(candidates.count, len(words_of)))
    layouts = {a: layout.in_order(layout_of, (*targets[a], a)) for a in chosen}
    variables = _variables(chosen, layouts, candidates, {})
    if any(layouts[a] and len(variables[a]) < len(words) for a, words in chosen.items()):
        values = hashed()
        if values:
            candidates = candidates.after(values)
            _hold_for(reader, (), candidates.count)
            variables = _variables(chosen, layouts, candidates, variables)
    return {a: NamedStorage(variables[a], layouts[a]) for a in chosen}


def _hold_for(reader: Reader, layouts: Iterable[layout.KnownLayout], words: int = 0) -> None:
    """Hold a place until the request ends where there are many words, or where distinct layouts
    have many variables."""
    distinct = {id(contract.layout): contract.layout.entries for contract in layouts}
    if words > MAX_FEW or sum(distinct.values()) > MAX_FEW_VARIABLES:
        reader.hold_processor()


def _variables(
    storages: Mapping[bytes, slot_names.Words],
    layouts: Mapping[bytes, Sequence[layout.KnownLayout]],
    candidates: mapping_keys.Candidates,
    former: _ByAddress,
) -> _ByAddress:
    """Return the variables in changed slots, with those that are known."""
    budget = slot_names.Budget()
    changes_of = {}
    for address, words in storages.items():
        every = [*(one.layout for one in layouts[address]), slot_names.OF_PROXIES]
        address_variables = former.get(address, {})
        changes_of[address] = slot_names.changed_variables(
            every, words, candidates, budget, address_variables
        )
    return changes_of


def implementations_at(
    reader: Reader, addresses: Sequence[bytes], block: Block
) -> dict[bytes, tuple[bytes, ...]]:
    """Return the first MAX_FACETS implementations of those that are proxies at a block, as
    proxies_at() does."""
    proxies = proxies_at(reader, addresses, block)
    return {address: proxy.implementations[:MAX_FACETS] for address, proxy in proxies.items()}


def proxies_at(
    reader: Reader, addresses: Sequence[bytes], block: Block, overridden: Mapping[bytes, Words] = {}
) -> dict[bytes, Proxy]:
    """Return those that are proxies at a block, or were with overridden slots; none that only the
    node knows where it does not respond."""
    abis = reader.sources.get(ContractAbis)
    try:
        return abis.proxies_at(addresses, block, reader.node, overridden)
    except (UpstreamFailed, Unavailable):
        if not reader.has_node_failed:
            raise  # the database is unavailable
        reader.do_not_cache()
        return {}


def _replaced(words: slot_names.Words) -> tuple[bytes, ...]:
    """Return the implementations after and before a change of the proxy's slot (EIP-1967)."""
    if _IMPLEMENTATION not in words:
        return ()
    before, after = words[_IMPLEMENTATION]
    return tuple(word[12:] for word in (after, before) if any(word) and not any(word[:12]))
