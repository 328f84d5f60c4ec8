"""Names of changed slots, with the layouts of verified contracts and the implementations of
proxies, which the node knows; and collisions of two layouts: variables of two contracts in the same
bytes of the storage, as where a proxy gets another implementation, or has variables of its own.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from scan.api.renamed_fields import recording
from scan.contracts.proxy_contracts import IMPLEMENTATION_SLOT, Proxy, Words
from scan.errors import Unavailable, UpstreamFailed
from scan.extensions.decoding.contract_abis import Block, ContractAbis
from scan.extensions.explanations.storage import layout, mapping_keys, slot_names
from scan.extensions.explanations.storage.layout import WORD, Layout, StorageType, Variable
from scan.extensions.explanations.storage.slots import Steps
from scan.extensions.traces.transaction_traces import TraceFrame
from scan.hex import quantity, to_hex
from scan.queries.reader import Reader

recorded = recording(__file__)

MAX_COLLISIONS = 50
MAX_COMPARED = 40_000  # pairs of variables and types, of a request: they take 0.1 s
MAX_DEPTH = 16
GAP = "gap"  # in the name of an array that is there to be replaced


class Collision(NamedTuple):
    """Two variables in the same bytes, with the labels of their types; `is_renamed`: they have the
    same type and place, and other names. `slot` and `offset` are of the first byte in both."""

    slot: int
    offset: int
    first: tuple[str, str]
    second: tuple[str, str]
    is_renamed: bool


class ContractCollision(NamedTuple):
    """A collision of the layouts of two contracts, by their addresses."""

    contracts: tuple[bytes, bytes]
    collision: Collision

    @property
    def slot(self) -> bytes:
        return self.collision.slot.to_bytes(WORD)

    @property
    def variables(self) -> Sequence[tuple[bytes, str, str]]:
        """The contract, the variable's name and its type, of each of the two."""
        sides = (self.collision.first, self.collision.second)
        return [(a, *side) for a, side in zip(self.contracts, sides, strict=True)]

    def record(self) -> dict[str, Any]:
        variables = [
            {"contract": to_hex(address), "name": name, "type": label}
            for address, name, label in self.variables
        ]
        kind = "name" if self.collision.is_renamed else "type"
        return recorded("collision", self) | {"kind": kind, "variables": variables}


class Comparisons:
    """The comparisons of a request, each made once, with the steps that are left for all."""

    def __init__(self) -> None:
        self.steps = Steps(MAX_COMPARED)
        # By the ids of two layouts, which are kept with it.
        self._known: dict[tuple[int, int], tuple[Layout, Layout, Sequence[Collision]]] = {}

    def collisions_of(self, first: Layout, second: Layout) -> Sequence[Collision]:
        """Return the first MAX_COLLISIONS collisions, by their place; equal layouts have none."""
        pair = id(first), id(second)
        if pair not in self._known:
            self._known[pair] = first, second, self._compare(first, second)
        return self._known[pair][2]

    def _compare(self, first: Layout, second: Layout) -> Sequence[Collision]:
        if self.steps.are_spent or first.is_vyper != second.is_vyper or first == second:
            return ()
        comparison = _Comparison(first, second, self.steps)
        compared = (comparison.compare(*pair) for pair in comparison.overlapping())
        return [*islice((c for c in compared if c is not None), MAX_COLLISIONS)]


def _span(layout: Layout, variable: Variable) -> tuple[int, int]:
    """Return the first byte of a variable, and the one after it."""
    type_ = layout.types.get(variable.type)
    start = variable.slot * WORD + variable.offset
    return start, start + (type_.size if type_ else WORD - variable.offset)


class _Comparison:
    """A comparison of the variables of two layouts."""

    def __init__(self, first: Layout, second: Layout, steps: Steps) -> None:
        self._first, self._second, self._steps = first, second, steps
        self._known: dict[tuple[str, str], bool] = {}

    def overlapping(self) -> Iterator[tuple[Variable, Variable]]:
        """Yield variables that have bytes in common, both in the order of their places. Variables
        of one layout do not overlap."""
        ones, others = iter(self._first.variables), iter(self._second.variables)
        one, other = next(ones, None), next(others, None)
        while one is not None and other is not None and self._steps.take():
            start, end = _span(self._first, one)
            other_start, other_end = _span(self._second, other)
            if start < other_end and other_start < end:
                yield one, other
            if end <= other_end:
                one = next(ones, None)
            else:
                other = next(others, None)

    def compare(self, one: Variable, other: Variable) -> Collision | None:
        own, others = self._first.types.get(one.type), self._second.types.get(other.type)
        if own is None or others is None or _is_gap(one, own) or _is_gap(other, others):
            return None
        spans = _span(self._first, one), _span(self._second, other)
        is_same_type = spans[0] == spans[1] and self._is_same(one.type, other.type, 0)
        if is_same_type and one.name == other.name:
            return None
        slot, offset = divmod(max(spans[0][0], spans[1][0]), WORD)
        names = (one.name, own.label), (other.name, others.label)
        return Collision(slot, offset, *names, is_renamed=is_same_type)

    def _is_same(self, one: str, other: str, depth: int) -> bool:
        """Return whether types are the same by their labels and what is in them: their names have
        numbers of the compilation."""
        pair = one, other
        if pair not in self._known:
            self._known[pair] = True  # while those inside are compared: types may have themselves
            self._known[pair] = self._are_alike(pair, depth)
        return self._known[pair]

    def _are_alike(self, names: tuple[str, str], depth: int) -> bool:
        self._steps.take()
        one, other = self._first.types.get(names[0]), self._second.types.get(names[1])
        if one is None or other is None or depth == MAX_DEPTH or self._steps.are_spent:
            return one is other
        if _outside(one) != _outside(other) or len(one.members) != len(other.members):
            return False
        inside = [(one.base, other.base), (one.key, other.key)]
        for member, its in zip(one.members, other.members, strict=True):
            if (member.name, member.slot, member.offset) != (its.name, its.slot, its.offset):
                return False
            inside.append((member.type, its.type))
        return all(self._is_same(own, others, depth + 1) for own, others in inside if own or others)


def _outside(type_: StorageType) -> tuple[object, ...]:
    return type_.kind, _label(type_), type_.size, type_.length


def _label(type_: StorageType) -> str:
    """Return a label without the contract that declares a type: another version may inherit it."""
    return " ".join(word.rpartition(".")[2] for word in type_.label.split(" "))


def _is_gap(variable: Variable, type_: StorageType) -> bool:
    return GAP in variable.name.lower() and type_.kind == "array"


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
        hold_for(reader, layout_of.values(), max(candidates.count, len(words_of)))
    layouts = {a: layout.in_order(layout_of, (*targets[a], a)) for a in chosen}
    variables = _variables(chosen, layouts, candidates, {})
    if any(layouts[a] and len(variables[a]) < len(words) for a, words in chosen.items()):
        values = hashed()
        if values:
            candidates = candidates.after(values)
            hold_for(reader, (), candidates.count)
            variables = _variables(chosen, layouts, candidates, variables)
    comparisons = Comparisons()
    storage = {}
    for address, words in chosen.items():
        collisions = []
        replaced = layout.in_order(layout_of, _replaced(words))
        if len(replaced) == 2:
            after, before = replaced
            collisions = contract_collisions(before, after, comparisons)
        storage[address] = NamedStorage(variables[address], layouts[address], collisions)
    return storage


def hold_for(reader: Reader, layouts: Iterable[layout.KnownLayout], words: int = 0) -> None:
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


def contract_collisions(
    first: layout.KnownLayout, second: layout.KnownLayout, comparisons: Comparisons
) -> list[ContractCollision]:
    """Return the collisions of the layouts of two contracts."""
    contracts = first.address, second.address
    collisions = comparisons.collisions_of(first.layout, second.layout)
    return [ContractCollision(contracts, collision) for collision in collisions]
