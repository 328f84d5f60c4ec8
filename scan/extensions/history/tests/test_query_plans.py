"""Plans of the statements of histories: by index, at any depth alike."""

import pytest

from scan.ethereum.served_chain import BlockId
from scan.extensions.history import queries as history
from scan.extensions.history.queries import HistoryFilter
from scan.queries import cursors
from scan.queries.list_pages import Window
from tests.support.explain import DEEPER
from tests.support.seeded_lists import seeded

pytestmark = pytest.mark.thorough

__all__ = ["seeded"]

LISTS_OF_HISTORY = 9
LAST_BLOCK = 50_000 // 150 - 1
ALL_TYPES = tuple(sorted(history.TYPES))


HISTORIES = {
    "": (HistoryFilter(ALL_TYPES), {}),
    "types=fee": (HistoryFilter(("fee",)), {}),
    "types=token_transfer,transaction": (HistoryFilter(("token_transfer", "transaction")), {}),
    "direction=in": (HistoryFilter(ALL_TYPES, "in"), {}),
    "direction=out": (HistoryFilter(ALL_TYPES, "out"), {}),
    "direction=self": (HistoryFilter(ALL_TYPES, "self"), {}),
    "blockFrom=50&blockTo=300": (HistoryFilter(ALL_TYPES), {"block_from": 50, "block_to": 300}),
}


def history_cursor(seeded, address, direction, criteria, blocks_left):
    """As if the page before had ended so many blocks before the last one of the order."""
    history_filter, ends = HISTORIES[criteria]
    first, last = ends.get("block_from", 0), ends.get("block_to", LAST_BLOCK)
    block = first + blocks_left if direction == "desc" else last - blocks_left
    filters = {"address": address, **history_filter._asdict()}
    window = Window(25, 0, direction, **ends)
    traversal = window.traversal("history", filters, history.POSITION)
    database = seeded.service.database
    newest, here = (
        BlockId(number, bytes(database.row("queries/blocks_get_hash", number=number)[1]))
        for number in (last, block)
    )
    row = database.row("queries/blocks_get_row_ends", **here._asdict())
    assert row is not None
    position = history._position_at(traversal, cursors.RowEnds(*row[1:]))
    return traversal.restart(position, here if direction == "asc" else newest)


def history_plan(seeded, address, query):
    plans, answer = seeded.service.plans(f"/api/v1/addresses/{address}/history?{query}")
    [plan] = [plan for plan in plans if plan.statement == "queries/history_list"]
    return plan, answer


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("criteria", HISTORIES)
def test_long_history_is_read_at_any_depth_alike(seeded, criteria, direction):
    """The first page, and two deeper ones, which have to be read as quickly."""
    address = seeded.value("transactions", "address", "hot")
    query = f"limit=25&orderBy={direction}&{criteria}"
    first, newest = history_plan(seeded, address, query)
    first.require_indexes(LISTS_OF_HISTORY * 26)
    for blocks_left in (200, 40):
        cursor = history_cursor(
            seeded, bytes.fromhex(address[2:]), direction, criteria, blocks_left
        )
        plan, page = history_plan(seeded, address, f"{query}&cursor={cursor}")
        plan.require_indexes(LISTS_OF_HISTORY * 26)
        assert plan.buffers <= DEEPER * first.buffers
        assert page["total"] == newest["total"]
        assert page["history"] and page["history"][0] not in newest["history"]


@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_history_by_transaction_compares_no_row_with_all_others(seeded, direction):
    address = seeded.value("transactions", "address", "hot")
    query = f"limit=100&group=transaction&orderBy={direction}"
    first, page = history_plan(seeded, address, query)
    assert len(page["history"]) == 100
    ranged, _ = history_plan(seeded, address, f"{query}&blockFrom=200&blockTo=400")
    following, _ = history_plan(seeded, address, f"{query}&cursor={page['next']}")
    for plan in (first, ranged, following):
        plan.require_indexes(LISTS_OF_HISTORY * 401)
        compared = [n.get("Rows Removed by Join Filter", 0) * n["Actual Loops"] for n in plan.nodes]
        assert max(compared) <= LISTS_OF_HISTORY * 401
        assert plan.buffers <= 10_000


def test_history_with_oneself_as_counterparty_is_read_by_its_index(seeded):
    address = seeded.value("transactions", "address", "hot")
    itself, page = history_plan(seeded, address, f"limit=25&counterparty={address}")
    by_direction, same = history_plan(seeded, address, "limit=25&direction=self")
    assert page["history"] == same["history"] and len(page["history"]) == 25
    assert itself.buffers <= DEEPER * by_direction.buffers
    outgoing, nothing = history_plan(
        seeded, address, f"limit=25&direction=out&counterparty={address}"
    )
    assert nothing["history"] == [] and outgoing.buffers <= itself.buffers


@pytest.mark.parametrize(("heat", "index"), [("hot", "by_from"), ("rare", "by_token")])
def test_history_by_token_is_read_from_the_shorter_list(seeded, heat, index):
    """The address's transfers, or the token's; both are prepared."""
    address = seeded.value("token_transfers", "address", "hot" if index == "by_token" else "rare")
    token = seeded.value("token_transfers", "tokenAddress", heat)
    plan, _ = history_plan(seeded, address, f"token={token}")
    used = {node["Index"] for node in plan.nodes if node.get("Actual Loops")}
    assert f"token_transfers_{index}" in used
    assert ("token_transfers_by_from" in used) is (index == "by_from")
