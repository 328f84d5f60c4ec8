"""Beside a node that lies at random and an honest one: nothing false is stored unsaid, and nothing
that is proven is called unproven."""

import itertools
from collections import Counter, namedtuple

import pytest

from tests.support import faulty_node, indexing, lying_node, table_digest
from tests.support.database import execute

# Of which methods a node lies, how often, and which tables have to be as they are beside an honest
# node alone, each but for some columns; None: all.
Lies = namedtuple("Lies", "methods share tables", defaults=(None,))


# A token's name, type or supply, and code, are what a node says of a state, which records and
# pages say; so are inner calls, whose records have `proven`: false.
BY_STATE = ("token_transfers_before", "token_transfer_count", "dex_trades_before")
BY_TRACES = ("internal_transfers_before", "internal_transfer_count", "traced", "traced_before")
FROM_BLOCKS = {
    "blocks": {*BY_STATE, "dex_trade_count", *BY_TRACES, "untraced_before"},
    **dict.fromkeys(
        ("transactions", "logs", "withdrawals", "authorizations", "block_bodies", "chain"), ()
    ),
    "chain": {"token_count"},
}
LIES = {
    "blocks": Lies(("eth_getBlockByNumber", "eth_getBlockReceipts"), 0.5),
    "traces": Lies(("debug_traceBlockByHash", "eth_getProof"), 0.5, FROM_BLOCKS),
    "state": Lies(("eth_getCode", "eth_call", "eth_getBalance"), 0.1, FROM_BLOCKS),
    "the chain": Lies(("eth_blockNumber", "eth_chainId", "web3_clientVersion"), 0.3),
}
LIES["all methods"] = Lies([m for lies in LIES.values() for m in lies.methods], 0.3, FROM_BLOCKS)
# No root covers it.
SAID = {"blocks": {"size"}}


@pytest.fixture(scope="module")
def honest(scenario, shared_database_url):
    """All of an index beside the honest node alone, with all logs."""
    index = indexing.Indexing(shared_database_url, scenario.anvil.url, logs="all")
    return table_digest.digest(index.run_until(scenario.anvil.head()).url)


@pytest.mark.usefixtures("short_pauses")
# With how many lies are told at least, and methods of which some surely are: of the chain one is
# told, of any.
@pytest.mark.parametrize(
    ("kind", "least", "methods"),
    [
        ("blocks", 60, {"eth_getBlockByNumber"}),
        pytest.param("traces", 20, {"debug_traceBlockByHash"}, marks=pytest.mark.thorough),
        pytest.param("state", 20, {"eth_getCode"}, marks=pytest.mark.thorough),
        pytest.param("the chain", 1, set(), marks=pytest.mark.thorough),
        pytest.param("all methods", 10_000, {"eth_getBlockByNumber"}, marks=pytest.mark.long),
    ],
)
def test_no_lie_is_stored_unsaid_and_nothing_proven_is_called_unproven(
    kind, least, methods, honest, scenario, postgres, template
):
    counts, seeds = Counter(), itertools.count()
    unproven_blocks = "SELECT number, unproven FROM blocks WHERE unproven IS NOT NULL ORDER BY 1"
    unproven = execute(honest.url, unproven_blocks)
    most_runs = 200
    while counts.total() < least:
        seed = next(seeds)
        assert seed < most_runs, counts
        with faulty_node.FaultyNode(scenario.anvil.url) as node, postgres.cloned(template) as url:
            node.fault = liar = lying_node.LyingNode(
                seed, LIES[kind].share, spared=dict(unproven), methods=LIES[kind].methods
            )
            urls = f"{node.url},{scenario.anvil.url}"
            indexing.Indexing(url, urls, logs="all").run_until(scenario.anvil.head())
            lying = table_digest.digest(url)
            different = [*differences(lying, honest, LIES[kind].tables)]
            assert not different, (seed, different, liar.told)
            assert execute(url, unproven_blocks) == unproven
            # No reader was told that a block was replaced: none was.
            assert execute(url, "SELECT number FROM orphaned_blocks") == []
            counts.update(lie.method for lie in liar.told)
    print(f"lies about {kind}: {counts.total()}, by method: {dict(counts)}")
    assert counts.keys() >= methods


def differences(left, right, tables):
    """Yield the rows of tables that differ, but for some of their columns."""
    assert tables is None or tables.keys() - {"withdrawals"} <= right.keys()
    for table in tables or left.keys() | right.keys():
        if left.get(table) == right.get(table):
            continue
        left_out = {*SAID.get(table, ()), *(tables or {}).get(table, ())}
        rows, others = left.rows(table), right.rows(table)
        for key in rows.keys() | others.keys():
            row, other = (without(of.get(key), left_out) for of in (rows, others))
            if row != other:
                yield table, row, other


def without(row, columns):
    return row and {name: value for name, value in row.items() if name not in columns}
