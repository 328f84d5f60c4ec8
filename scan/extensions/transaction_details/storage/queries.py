"""Names of changed slots, with the layouts of verified contracts and the implementations of
proxies, which the node knows."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from scan.contracts.proxy_contracts import IMPLEMENTATION_SLOT, Proxy, Words
from scan.errors import Unavailable, UpstreamFailed
from scan.extensions.internal_transfers.transaction_traces import TraceFrame
from scan.extensions.transaction_details.contract_abis import Block, ContractAbis, Emitter
from scan.extensions.transaction_details.storage import layout, mapping_keys, slot_names
from scan.extensions.transaction_details.storage.collisions import Comparisons, ContractCollision
from scan.hex import quantity
from scan.queries.reader import Reader

MAX_CONTRACTS = 50  # whose slots are named; those with most changed slots first
MAX_FACETS = 8  # of a proxy, whose layouts are used
MAX_FEW = 200  # words or slots; names of more may take the processor 0.2 s
MAX_FEW_VARIABLES = 2_000  # of layouts together, likewise
_ByAddress = Mapping[bytes, Mapping[int, Sequence[slot_names.VariableChange]]]
_IMPLEMENTATION = quantity(IMPLEMENTATION_SLOT)


class NamedStorage(NamedTuple):
    """The variables in changed slots of a contract by slot, the contracts whose layouts name them,
    and the collisions of the layouts of two implementations, where it got another one."""

    variables: Mapping[int, Sequence[slot_names.VariableChange]]
    layouts: Sequence[layout.KnownLayout] = ()
    collisions: Sequence[ContractCollision] = ()


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
        own = implementations.get(address) or targets.get(address, ())
        targets[address] = (*own[:MAX_FACETS], *_replaced(words))
    addresses = [code for own in chosen for code in (*targets[own], own)]
    known = reader.sources.get(layout.StorageLayouts).of(addresses)
    candidates = mapping_keys.Candidates(())
    if known:
        words_of = [pair for words in chosen.values() for pair in words.values()]
        candidates = mapping_keys.candidates_of(
            frames(), [word for pair in words_of for word in pair[::-1]]
        )
        _bound_work(reader, [*known.values()], max(candidates.count, len(words_of)))
    layouts = {a: layout.in_order(known, (*targets[a], a)) for a in chosen}
    variables = _variables(chosen, layouts, candidates, {})
    if any(layouts[a] and len(variables[a]) < len(words) for a, words in chosen.items()):
        values = hashed()
        if values:
            candidates = candidates.after(values)
            _bound_work(reader, (), candidates.count)
            variables = _variables(chosen, layouts, candidates, variables)
    comparisons = Comparisons()
    return {
        address: NamedStorage(
            variables[address], layouts[address], _collisions(known, words, comparisons)
        )
        for address, words in chosen.items()
    }


def _bound_work(reader: Reader, layouts: Sequence[layout.KnownLayout], words: int) -> None:
    if words > MAX_FEW:
        reader.hold_processor()
    hold_for(reader, layouts)


def hold_for(reader: Reader, layouts: Sequence[layout.KnownLayout]) -> None:
    """Hold a place until the request ends where distinct layouts have many variables."""
    distinct = {id(known.layout): known.layout.entries for known in layouts}
    if sum(distinct.values()) > MAX_FEW_VARIABLES:
        reader.hold_processor()


def _variables(
    storages: Mapping[bytes, slot_names.Words],
    layouts: Mapping[bytes, Sequence[layout.KnownLayout]],
    candidates: mapping_keys.Candidates,
    known: _ByAddress,
) -> _ByAddress:
    """Return the variables in changed slots, with those that are known."""
    budget = slot_names.Budget()
    named = {}
    for address, words in storages.items():
        every = [*(one.layout for one in layouts[address]), slot_names.OF_PROXIES]
        address_variables = known.get(address, {})
        named[address] = slot_names.changed_variables(
            every, words, candidates, budget, address_variables
        )
    return named


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
    emitters = [Emitter(address, block) for address in addresses]
    try:
        proxies = reader.sources.get(ContractAbis).proxies_at(emitters, reader.node, overridden)
    except (UpstreamFailed, Unavailable):
        if not reader.has_node_failed:
            raise  # the database is unavailable
        reader.do_not_cache()
        return {}
    return {emitter.address: proxy for emitter, proxy in proxies.items()}


def _replaced(words: slot_names.Words) -> tuple[bytes, ...]:
    """Return the implementations after and before a change of the proxy's slot (EIP-1967)."""
    if _IMPLEMENTATION not in words:
        return ()
    before, after = words[_IMPLEMENTATION]
    return tuple(word[12:] for word in (after, before) if any(word) and not any(word[:12]))


def _collisions(
    known: Mapping[bytes, layout.KnownLayout], words: slot_names.Words, comparisons: Comparisons
) -> list[ContractCollision]:
    replaced = layout.in_order(known, _replaced(words))
    if len(replaced) < 2:
        return []
    after, before = replaced
    return contract_collisions(before, after, comparisons)


def contract_collisions(
    first: layout.KnownLayout, second: layout.KnownLayout, comparisons: Comparisons
) -> list[ContractCollision]:
    """Return the collisions of the layouts of two contracts."""
    contracts = first.address, second.address
    collisions = comparisons.collisions_of(first.layout, second.layout)
    return [ContractCollision(contracts, collision) for collision in collisions]
