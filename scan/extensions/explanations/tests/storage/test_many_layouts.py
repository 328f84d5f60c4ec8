"""Many contracts and layouts in one request: what they take together is bounded."""

from pathlib import Path

import pytest

from scan.extensions.explanations.storage import layout, mapping_keys, queries
from scan.extensions.explanations.storage.slot_names import MAX_VARIABLES as MAX_VARIABLES_TOGETHER
from scan.extensions.explanations.storage.slot_names import Budget, names_of_slots
from scan.extensions.explanations.tests.storage.conftest import deploy
from scan.hex import data
from tests.support.anvil import calldata

pytestmark = pytest.mark.thorough


def variables(count):
    types = {"t": layout.StorageType("value", "uint256", 32)}
    return layout.laid_out([layout.Variable(f"v{n}", "t", n, 0) for n in range(count)], types)


def named(own, slot, budget):
    names = names_of_slots(own, {slot}, mapping_keys.Candidates([bytes(32)]), budget)
    return [variable.name for of_slot in names.values() for variable in of_slot]


@pytest.mark.check
def test_the_variables_of_a_layout_are_walked_once_for_all_contracts():
    own, budget = variables(layout.MAX_VARIABLES), Budget()
    steps = budget.steps.left
    assert names_of_slots(own, (), mapping_keys.Candidates(()), budget) == {}
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


@pytest.fixture(scope="module")
def diamond(explorer):
    sources = {"Diamond.sol": Path(__file__).with_name("Diamond.sol").read_text()}
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


def test_many_variables_take_a_place(diamond, monkeypatch):
    sent = [diamond.explorer.send(diamond.address, calldata("write()")) for _ in range(2)]
    first, second = (f"/api/v1/transactions/{hash_}/state-changes" for hash_ in sent)
    client = diamond.explorer.client
    with client.application.extensions["scan"].sources.processor_places.place("127.0.0.1"):
        assert client.get(first).status_code == 200
        monkeypatch.setattr(queries, "MAX_FEW_VARIABLES", 3)
        assert client.get(second).status_code == 429
    assert client.get(second).status_code == 200
