"""The lists at 50,000 transactions: by indexes, and a deep page costs what the first one does."""

import pytest

from bench.cases import HOT, HOT_TOKEN, USUAL, USUAL_TOKEN

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("sort", ["asc", "desc"])
@pytest.mark.parametrize("blocks", ("", "&startblock=200&endblock=400"), ids=str)
@pytest.mark.parametrize(
    "listed",
    (
        *(f"txlistinternal&address={address}" for address in (HOT, USUAL)),
        *(f"tokentx&contractaddress={token}" for token in (HOT_TOKEN, USUAL_TOKEN)),
        f"tokentx&address={HOT}",
        f"tokentx&address={HOT}&contractaddress={HOT_TOKEN}",
        "txlistinternal",
    ),
)
def test_a_deep_page_costs_what_the_first_does(seeded_service, listed, blocks, sort):
    path = f"/api?module=account&action={listed}{blocks}&sort={sort}&offset=25"
    # The total of some lists is not known.
    total = int(seeded_service.client.get(path).headers.get("X-Total-Count", 50))
    buffers = []  # of all statements of a request
    for page in (1, max(total // 25, 1)):
        plans, body = seeded_service.plans(f"{path}&page={page}")
        assert body["status"] == "1", (page, body)
        assert plans
        for plan in plans:
            plan.require_indexes()
        buffers.append(sum(plan.buffers for plan in plans))
    first, last = buffers
    assert last <= 2.0 * first + 100


@pytest.mark.parametrize("time_s", [1_577_836_800 + 12 * 300 + 5, 9_000_000_000])
def test_a_block_is_found_by_its_time_through_the_primary_key(seeded_service, time_s):
    path = f"/api?module=block&action=getblocknobytime&closest=before&timestamp={time_s}"
    plans, body = seeded_service.plans(path)
    assert body["status"] == "1", body
    assert plans
    for plan in plans:
        plan.require_indexes()
        assert plan.buffers < 200


@pytest.mark.parametrize("address", [HOT, USUAL])
def test_what_funded_an_address_is_found_by_indexes(seeded_service, address):
    path = f"/api?module=account&action=fundedby&address={address}"
    plans, body = seeded_service.plans(path)
    assert body["status"] == "1", body
    assert plans
    for plan in plans:
        plan.require_indexes()
        assert plan.buffers < 200
