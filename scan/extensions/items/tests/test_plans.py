"""How PostgreSQL serves lists of items: by index, the last page as the first."""

import pytest

from tests.support import explain
from tests.support.seeded_items import BAZAAR, COLLECTION, PERSON, address_of, seed_items

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def seeded(shared_database_url):
    seed_items(shared_database_url, 20_000)
    with explain.explained(shared_database_url) as service:
        yield service


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

    def read(place=""):
        """Beside its list a request reads at most which of the tokens have events that do not add
        up, one row for each."""
        [plan, *others], answer = seeded.plans(f"/api/v1{path}?limit={limit}{place}")
        assert [other.statement for other in others] in ([], ["queries/tokens_list_inconsistent"])
        for other in others:
            other.require_indexes()
            assert other.buffers <= 20 + 4 * limit
        return plan, answer["total"]

    first, total = read()
    assert total >= least
    pages = max(1, -(-total // limit))
    places = ((pages + 1) // 2, pages, pages + 1)
    middle, last, beyond = (read(f"&page={page}")[0] for page in places)
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
