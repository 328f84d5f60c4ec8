"""Many contracts, layouts and strings in one request: what they take together is bounded."""

from pathlib import Path
from typing import Any

import pytest

from scan.extensions.explanations.storage import layout, queries, variable_values
from scan.extensions.explanations.storage.layout_comparison import MAX_COMPARED, Comparisons
from scan.extensions.explanations.storage.mapping_keys import Candidates
from scan.extensions.explanations.storage.slot_names import MAX_VARIABLES as MAX_VARIABLES_TOGETHER
from scan.extensions.explanations.storage.slot_names import (
    Budget,
    changed_variables,
    content_of,
    names_of_slots,
)
from scan.extensions.explanations.tests.storage.conftest import deploy
from scan.hex import data
from tests.support.anvil import calldata

pytestmark = pytest.mark.thorough

TYPES = {
    "t": layout.StorageType("value", "uint256", 32),
    "s": layout.StorageType("bytes", "string", 32),
}
DIAMOND = Path(__file__).with_name("Diamond.sol").read_text()


def variables(count, type_="t", name="v"):
    return layout.laid_out(
        [layout.Variable(f"{name}{n}", type_, n, 0) for n in range(count)], TYPES
    )


def named(own, slot, budget):
    parts = names_of_slots(own, {slot}, Candidates([bytes(32)]), budget)
    return [part.name for of in parts.values() for part in of]


@pytest.mark.check
def test_the_variables_of_a_layout_are_walked_once_for_all_contracts():
    own, budget = variables(layout.MAX_VARIABLES), Budget()
    steps = budget.steps.left
    assert names_of_slots(own, (), Candidates(()), budget) == {}
    assert budget.variables == MAX_VARIABLES_TOGETHER
    for _ in range(50):
        assert named(own, 2**255 + 1, budget) == []
    assert budget.variables == MAX_VARIABLES_TOGETHER - layout.MAX_VARIABLES
    assert steps - budget.steps.left <= layout.MAX_VARIABLES + 50  # and one for each look-up


@pytest.mark.check
def test_the_variables_of_distinct_layouts_are_bounded_together():
    budget = Budget()
    large = [variables(layout.MAX_VARIABLES) for _ in range(100)]
    names = [named(own, 1_999, budget) for own in large]
    assert names.count(["v1999"]) == MAX_VARIABLES_TOGETHER // layout.MAX_VARIABLES
    assert budget.variables == 0
    budget.variables = 3  # one that has room is not left out for those that had none
    assert named(variables(4), 2, budget) == []
    assert named(variables(3), 2, budget) == ["v2"]


class Counted(dict[int, Any]):
    """Words that count how often they are read."""

    reads = copies = 0

    def get(self, *arguments):
        self.reads += 1
        return super().get(*arguments)

    def items(self):
        self.copies += 1
        return super().items()


@pytest.mark.check
def test_many_strings_read_the_words_once():
    long, longer = ((2 * length + 1).to_bytes(32) for length in (60_000, 61_000))
    words = Counted(dict.fromkeys(range(500), (long, longer)))
    assert len(changed_variables([variables(500, "s")], words, Candidates(()), Budget())) == 500
    assert words.copies == 2  # those before, and those after
    side = Counted({0: long})
    assert content_of(0, long, side) is None
    assert side.reads == 1  # none is read after one that is missing


@pytest.mark.check
def test_comparisons_are_bounded_together():
    comparisons = Comparisons()
    equal = [variables(layout.MAX_VARIABLES) for _ in range(10)]
    assert not any(comparisons.collisions_of(one, other) for one in equal for other in equal)
    assert comparisons.steps.left == MAX_COMPARED
    one, other = variables(10), variables(10, name="w")
    known = comparisons.collisions_of(one, other)
    left = comparisons.steps.left
    assert len(known) == 10
    assert comparisons.collisions_of(one, other) is known
    assert comparisons.steps.left == left
    # Those that differ in the last variable alone.
    distinct = [variables(layout.MAX_VARIABLES - n) for n in range(60)]
    for first in distinct:
        for second in distinct:
            comparisons.collisions_of(first, second)
    assert comparisons.steps.are_spent


@pytest.fixture(scope="module")
def diamond(explorer):
    sources = {"Diamond.sol": DIAMOND}
    first = deploy(explorer, sources, "Diamond.sol", "Facet").address
    copies = [
        deploy(explorer, sources, "Diamond.sol", "Facet", is_verified=False).address
        for _ in range(queries.MAX_FACETS)
    ]
    own = deploy(explorer, sources, "Diamond.sol", "Diamond", is_verified=False)
    explorer.send(own.address, calldata("set(address[])", [first, *copies]), gas=5_000_000)
    return own


def test_facets_are_cut_to_one_number(diamond):
    account = diamond.account("write()")
    assert len(account["layouts"]) == queries.MAX_FACETS
    assert [v["name"] for s in account["storage"] for v in s["variables"]] == ["value"]
    assert len(diamond.storage().json["layouts"]) == queries.MAX_FACETS


def test_layouts_are_read_to_a_bound_those_of_one_code_once(diamond, kept, monkeypatch):
    sources = diamond.explorer.client.application.extensions["scan"].sources
    facets = [data(known["address"]) for known in diamond.storage().json["layouts"]]
    both = [*facets, data(kept.address)]
    known = sources.get(layout.StorageLayouts).of(both)
    assert known.keys() == {*both}
    assert len({id(known[facet].layout) for facet in facets}) == 1
    monkeypatch.setattr(layout, "MAX_CHARACTERS", 1)
    fresh = layout.StorageLayouts(sources.database)
    for _ in range(2):  # read, and cached
        assert fresh.of([*both[::-1]]).keys() == {data(kept.address)}
        assert [*fresh.of(both)] == facets[:1]


def test_many_variables_take_a_place(diamond, kept, monkeypatch):
    sent = diamond.explorer.send(diamond.address, calldata("write()"))
    client = diamond.explorer.client
    storage = f"/api/v1/contracts/{diamond.address}/storage?compare={kept.address}"
    changes = f"/api/v1/transactions/{sent}/state-changes"
    with client.application.extensions["scan"].sources.processor_places.place("127.0.0.1"):
        assert client.get(storage).status_code == 200
        monkeypatch.setattr(queries, "MAX_FEW_VARIABLES", 3)
        for path in (storage, changes):
            assert client.get(path).status_code == 429, path
    for path in (storage, changes):
        assert client.get(path).status_code == 200, path


def test_collisions_that_are_left_out_are_said(diamond, kept, monkeypatch):
    whole = diamond.storage(compare=kept.address).json
    assert whole["collisions"]
    assert not whole["truncated"]
    monkeypatch.setattr(variable_values, "Comparisons", NoneLeft)
    cut = diamond.storage(compare=kept.address).json
    assert (cut["collisions"], cut["truncated"]) == ([], True)


class NoneLeft(Comparisons):
    """Comparisons of a request that has made as many as it may."""

    def __init__(self):
        super().__init__()
        self.steps.left = 0
