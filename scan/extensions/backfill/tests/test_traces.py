"""Traces that are read later: the index is the one that had them from the beginning."""

import threading
from contextlib import closing

import pytest

from scan.audit.rebuild import Rebuild
from scan.commands import audit
from scan.ethereum.client import Node
from scan.extensions.backfill.tests.backfilling import fill, opened
from scan.extensions.backfill.trace_backfill import TraceBackfill
from tests.support import auditing, faulty_node
from tests.support.database import execute
from tests.support.indexing import Indexing, status
from tests.support.scan_command import scan
from tests.support.scenario import contracts, tokens
from tests.support.scenario.stage import Stage
from tests.support.table_digest import digest, fresh_digest

pytestmark = pytest.mark.thorough


def test_traces_read_later_make_the_index_that_always_had_them(database_url, scenario, indexed):
    head, url = scenario.anvil.head(), scenario.anvil.url
    settings = Indexing(database_url, url, traces="off").run_until(head).settings
    assert status(database_url)["untracedBlocks"] > 0
    advice = scan("doctor", DATABASE_URL=database_url, RPC_URL=url).stdout
    assert "scan backfill traces`" in advice
    fill(database_url, url)
    assert status(database_url)["untracedBlocks"] == 0
    Indexing(database_url, url).run_until(head)
    assert digest(database_url) == digest(indexed.url)
    assert auditing.run(settings, node=True) == audit.EXACT
    [(stale,)] = execute(
        database_url,
        "SELECT count(*) FROM addresses WHERE balance_block < last_seen AND NOT balance_stale",
    )
    assert stale == 0


@pytest.fixture
def stage(anvil):
    stage = Stage(anvil)
    for act in (tokens.honest_tokens, contracts.creations, contracts.purses):
        act(stage)
    return stage


def test_an_indexer_goes_on_meanwhile_and_through_a_fork(postgres, template, database_url, stage):
    """The fork replaces blocks whose traces were read, before they are written; what was derived
    again from blocks without traces is derived anew."""
    anvil = stage.anvil
    Indexing(database_url, anvil.url, traces="off").run_until(anvil.head())
    depth = 4
    with Indexing(database_url, anvil.url) as indexing, closing(opened(database_url)) as database:
        backfill = TraceBackfill(database, Node([anvil.url]), threading.Event())
        assert sum(backfill.read()) == backfill.missing()[0] > 0
        anvil.reorganise(depth)
        contracts.purses(stage)
        indexing.wait_for(anvil.head())
        stop = threading.Event()
        rebuild = Rebuild(database, database_url, stop)
        rebuild.request(["contract_creations"])
        for _ in rebuild.run():
            stop.set()  # what is derived by now has no traces
        backfill.write(partition_rows=100)
        assert backfill.missing()[0] == 0
        stop.clear()
        for _ in rebuild.run():
            pass
        contracts.purses(stage)
        indexing.wait_for(anvil.head())
    assert digest(database_url) == fresh_digest(postgres, template, anvil)


def test_code_is_kept_where_it_was_first_seen_and_where_it_was_created_anew(database_url):
    """An index that begins after the first creation has seen the code without it."""
    sights = """
        INSERT INTO contracts (address, block_number, code_hash)
            VALUES ('a', 3, 'old'), ('a', 6, 'new');
        INSERT INTO new_contracts (address, block_number, code_hash)
            VALUES ('a', 5, 'new'), ('a', 8, 'old');
        INSERT INTO new_contract_creations
            (ordinal, block_number, transaction_index, address, creator)
            VALUES (first_ordinal_in(5), 5, 0, 'a', 'b'), (first_ordinal_in(8), 8, 0, 'a', 'b');
    """
    with closing(opened(database_url)) as database, database.transaction() as tx:
        tx.execute("bulk/traces_begin")
        tx.script(sights)
        tx.execute("bulk/traces_replace")
    kept = "SELECT block_number, convert_from(code_hash, 'UTF8') FROM contracts ORDER BY 1"
    assert execute(database_url, kept) == [(3, "old"), (5, "new"), (8, "old")]


def test_a_node_that_cannot_trace_is_refused_with_the_reason(database_url, stage, node):
    anvil = stage.anvil
    settings = Indexing(database_url, anvil.url, traces="off").run_until(anvil.head()).settings
    before = digest(database_url)
    refused = {
        "the node offers no traces": faulty_node.refuse(lambda call: "trace" in call["method"]),
        "the node cannot trace block 1: use one": faulty_node.without_old_state(
            1, -39999, "unknown"
        ),
        "the node has pruned block 1: only one that has all blocks": faulty_node.prune(8, "4444"),
    }
    for reason, node.fault in refused.items():
        done = scan("backfill", "traces", DATABASE_URL=database_url, RPC_URL=node.url)
        assert (done.returncode, reason in done.stderr) == (1, True), done.stderr
    assert digest(database_url) == before
    assert auditing.run(settings) == audit.EXACT


def test_blocks_that_the_node_refuses_keep_no_others_from_their_traces(
    postgres, template, database_url, stage, node
):
    anvil, count = stage.anvil, 4
    Indexing(database_url, anvil.url, traces="off").run_until(anvil.head())
    blocks = [anvil.call("eth_getBlockByNumber", hex(n), False) for n in range(1, count + 1)]
    refused = {key for b in blocks for key in (b["hash"], b["number"], *b["transactions"])}
    node.fault = faulty_node.refuse(
        lambda call: "trace" in call["method"] and call["params"][0] in refused,
        *(-32000, "tracing failed"),
    )
    for _ in range(2):
        done = scan("backfill", "traces", DATABASE_URL=database_url, RPC_URL=node.url)
        assert done.returncode == 1
        assert f"\n{count} blocks lack traces; the next run" in done.stderr, done.stderr
        assert status(database_url)["untracedBlocks"] == count
    node.fault = None
    fill(database_url, node.url)
    Indexing(database_url, anvil.url).run_until(anvil.head())
    assert digest(database_url) == fresh_digest(postgres, template, anvil)
