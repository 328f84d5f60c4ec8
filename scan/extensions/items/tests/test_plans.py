"""How PostgreSQL serves lists of items: by index, the last page as the first."""

import pytest

from tests.support import explain
from tests.support.seeded_items import BAZAAR, COLLECTION, PERSON, address_of, seed_items

pytestmark = pytest.mark.thorough

TRANSFERS = 20_000


@pytest.fixture(scope="module")
def seeded(postgres, template):
    with postgres.cloned(template) as url:
        seed_items(url, TRANSFERS)
        with explain.explained(url) as service:
            yield service


def listed(seeded, path, limit):
    """The plan of a list and the answer. Beside it a request reads at most which of the tokens have
    events that do not add up, one row for each."""
    [plan, *others], answer = seeded.plans(f"/api/v1{path}")
    assert [other.statement for other in others] in ([], ["queries/tokens_list_inconsistent"])
    for other in others:
        other.require_indexes()
        assert other.buffers <= 20 + 4 * limit
    return plan, answer


@pytest.mark.parametrize("limit", [25, 100])
@pytest.mark.parametrize(
    ("path", "least", "has_every_depth"),
    [
        (f"/tokens/{COLLECTION}/items", 5_000, True),
        (f"/tokens/{BAZAAR}/items", 500, True),
        (f"/tokens/{address_of('collection', 50)}/items", 10, True),
        (f"/tokens/{BAZAAR}/items/7/transfers", 2_000, True),
        (f"/tokens/{COLLECTION}/items/0/transfers", 1, True),
        (f"/addresses/{PERSON}/items", 1_500, False),
        (f"/addresses/{address_of('person', 40_000)}/items", 0, False),
    ],
    ids=lambda value: str(value)[-20:],
)
def test_lists_are_read_from_indexes_at_any_depth(seeded, path, least, has_every_depth, limit):
    """The items of an address come from its nearer end: the middle page passes half of them."""
    first, answer = listed(seeded, f"{path}?limit={limit}", limit)
    assert answer["total"] >= least
    pages = max(1, -(-answer["total"] // limit))
    middle, _ = listed(seeded, f"{path}?limit={limit}&page={(pages + 1) // 2}", limit)
    last, _ = listed(seeded, f"{path}?limit={limit}&page={pages}", limit)
    beyond, _ = listed(seeded, f"{path}?limit={limit}&page={pages + 1}", limit)
    for plan in (first, middle, last, beyond):
        plan.require_indexes(limit)
    for plan in (last, beyond, *([middle] if has_every_depth else [])):
        assert plan.buffers <= explain.DEEPER * first.buffers


@pytest.mark.parametrize(("token", "item"), [(COLLECTION, 0), (BAZAAR, 7)], ids=["one", "many"])
def test_one_item_reads_a_bounded_part_of_indexes(seeded, token, item):
    plans, answer = seeded.plans(f"/api/v1/tokens/{token}/items/{item}")
    for plan in plans:
        plan.require_indexes(25)
    assert sum(plan.buffers for plan in plans) <= 500
    assert len(answer["owners"]) == min(100, answer["ownerCount"])


def test_a_search_for_an_item_reads_a_bounded_part_of_indexes(seeded):
    plans, answer = seeded.plans("/api/v1/search?q=b%20%237")
    assert answer["results"][0]["type"] == "item"
    plans[-1].require_indexes(400)
    assert plans[-1].buffers <= 2000
