"""The lists at 100,000 transactions: by index, alike at any depth, and exact in any range."""

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson
import pytest

from bench.cases import HOT, HOT_TOKEN, USUAL, USUAL_TOKEN
from scan.parameters import BIGINT_MAX
from tests.support.database import Postgres
from tests.support.explain import DEEPER, ExplainingDatabase, Plan, explained

TRANSACTIONS = 100_000
BLOCKS = TRANSACTIONS // 150
LIMIT = 25


class List(NamedTuple):
    """One that Etherscan's form shows: an entity's, by what, and whose."""

    entity: str
    by: str
    key: bytes


def key(address: str) -> bytes:
    return bytes.fromhex(address[2:])


LISTS = {
    "hottest": List("transactions", "address", key(HOT)),
    "usual": List("transactions", "address", key(USUAL)),
    "hottest internal": List("internal_transfers", "address", key(HOT)),
    "usual internal": List("internal_transfers", "address", key(USUAL)),
    "hottest token": List("token_transfers", "token", key(HOT_TOKEN)),
    "usual token": List("token_transfers", "token", key(USUAL_TOKEN)),
}
RANGES = [(0, BIGINT_MAX), (100, BIGINT_MAX), (0, 500), (200, 400)]


@pytest.fixture(scope="module")
def seeded(postgres: Postgres, seeded_template: str) -> Iterator[ExplainingDatabase]:
    with postgres.cloned(seeded_template) as url, explained(url) as service:
        yield service.database


def ask(
    seeded: ExplainingDatabase,
    wanted: List,
    blocks: tuple[int, int],
    direction: str,
    offset: int,
    limit: int = LIMIT,
) -> tuple[list[dict[str, Any]], int, Plan]:
    """Rows, total and plan."""
    first, last = blocks
    row = seeded.prepared_row(
        f"queries/{wanted.entity}_by_{wanted.by}_list",
        key=wanted.key,
        form="etherscan",
        block_from=first,
        block_to=last,
        has_lower=first > 0,
        has_upper=last < BIGINT_MAX,
        direction=direction,
        limit=limit,
        offset=offset,
        after=None,
        seen_block=None,
    )
    assert row is not None
    return orjson.loads(row[1]), row[3], seeded.plans[-1]


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("blocks", RANGES, ids=str)
@pytest.mark.parametrize("name", LISTS)
def test_every_depth_costs_the_same(
    seeded: ExplainingDatabase, name: str, blocks: tuple[int, int], direction: str
) -> None:
    _, total, first = ask(seeded, LISTS[name], blocks, direction, 0)
    _, _, middle = ask(seeded, LISTS[name], blocks, direction, total // 2)
    rows, _, last = ask(seeded, LISTS[name], blocks, direction, (total - 1) // LIMIT * LIMIT)
    nothing, _, beyond = ask(seeded, LISTS[name], blocks, direction, total)
    assert rows and not nothing
    for plan in (first, middle, last, beyond):
        plan.require_indexes(LIMIT)
        assert plan.buffers <= DEEPER * first.buffers


@pytest.mark.parametrize("name", LISTS)
def test_pages_of_a_range_are_cuts_of_the_whole(seeded: ExplainingDatabase, name: str) -> None:
    whole: list[dict[str, Any]] = []
    while True:
        rows, _, _ = ask(seeded, LISTS[name], RANGES[0], "asc", len(whole), 10_000)
        if not rows:
            break
        whole += rows
    draw = random.Random(15)
    for _ in range(60):
        first, last = draw.randint(0, BLOCKS + 5), draw.randint(0, BLOCKS + 5)
        limit, direction = draw.choice([1, 25, 1000]), draw.choice(["asc", "desc"])
        inside = [row for row in whole if first <= int(row["blockNumber"]) <= last]
        if direction == "desc":
            inside.reverse()
        offset = draw.randint(0, len(inside) + 3)
        rows, total, _ = ask(seeded, LISTS[name], (first, last), direction, offset, limit)
        assert (rows, total) == (inside[offset : offset + limit], len(inside))


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("has_token", [False, True])
@pytest.mark.parametrize("blocks", RANGES, ids=str)
def test_transfers_of_an_address_use_an_index(
    seeded: ExplainingDatabase, blocks: tuple[int, int], has_token: bool, direction: str
) -> None:
    first, last = blocks
    seeded.prepared_row(
        f"queries/token_transfers_by_{'token' if has_token else 'address'}_list_by_filters",
        address=key(HOT),
        token=key(HOT_TOKEN) if has_token else None,
        type="BEP20",
        form="etherscan",
        **{"from": None, "to": None, "counterparty": None},
        block_from=first,
        block_to=last,
        has_lower=first > 0,
        has_upper=last < BIGINT_MAX,
        direction=direction,
        limit=LIMIT,
        offset=0,
        after=None,
        seen_block=None,
        lowest=0,
        highest=BIGINT_MAX,
    )
    plan = seeded.plans[-1]
    plan.require_indexes()


@pytest.mark.parametrize("time_s", [0, 1_577_836_800 + 12 * 300 + 5, 9_000_000_000_000])
def test_a_block_is_found_by_its_time_through_the_primary_key(
    seeded: ExplainingDatabase, time_s: int
) -> None:
    seeded.prepared_row("queries/blocks_get_by_time", time_s=time_s)
    plan = seeded.plans[-1]
    plan.require_indexes()
    assert plan.buffers < 200
