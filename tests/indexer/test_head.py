"""What a block at the head takes: no new connection, kept plans for few rows, the same tables."""

import threading
from contextlib import suppress

import pytest

from scan.database.connection import Database
from scan.database.statements import read_statement
from scan.database.transaction import Transaction
from scan.ethereum.client import Node
from scan.indexer import derivation, writer
from scan.indexer.chain_indexer import ChainIndexer
from scan.indexer.derivation import read_block_range
from tests.support import faulty_node
from tests.support.anvil import Anvil
from tests.support.explain import SMALL
from tests.support.faulty_node import FaultyNode
from tests.support.indexing import settings_for
from tests.support.table_digest import digest, fresh_digest


class RolledBack(Exception):
    """The end of a transaction whose changes nobody needs."""


class ExplainedPlans:
    """Notes the tables that each kept plan reads from one end to the other."""

    def __init__(self, monkeypatch):
        self.scans = {}
        text_of = Transaction._text

        def explained(tx, name, params):
            text = text_of(tx, name, params)
            if tx.is_prepared and read_statement(name).literals is not None:
                tx._send()  # the settings before it
                tx._cursor.execute(b"EXPLAIN (FORMAT JSON) " + text)
                [[[explanation]]] = tx._cursor.fetchall()
                self.scans[name] = set(_scanned(explanation["Plan"]))
            return text

        monkeypatch.setattr(Transaction, "_text", explained)


def _scanned(plan):
    own = [plan["Relation Name"]] if plan["Node Type"] == "Seq Scan" else []
    return own + [name for inner in plan.get("Plans", ()) for name in _scanned(inner)]


@pytest.mark.thorough
def test_kept_plans_read_no_table_whole(postgres, seeded_template, monkeypatch):
    plans = ExplainedPlans(monkeypatch)
    with postgres.cloned(seeded_template) as url:
        database = Database(url, statement_timeout_ms=0)
        last = database.value("indexer/blocks_get_head")
        with suppress(RolledBack), database.transaction(prepared=True) as tx:
            tx.defer("indexer/planner_plan_for_few_rows")
            derivation.derive(tx, read_block_range(tx, last - 2, last))
            raise RolledBack
        database.close()
    assert plans.scans.keys() > {"indexer/addresses_derive", "indexer/counters_derive"}
    assert {name: tables - SMALL for name, tables in plans.scans.items() if tables - SMALL} == {}


@pytest.mark.parametrize("mined", [0, 1])
def test_blocks_that_the_database_lost_are_indexed_again(
    database, database_url, postgres, template, mined
):
    """As after a failover, whether the node has further blocks or not."""
    with Anvil() as node:
        token = node.deploy(node.accounts[0], "Coin", "Coin", "COIN", 18)
        for _ in range(3):
            node.transact(node.accounts[0], token, "mint", node.accounts[1], 7)
            node.mine()
        settings = settings_for(database_url, node.url)
        indexer = ChainIndexer(settings, database, Node(settings.rpc_urls), threading.Event())
        while not indexer.step():
            pass
        writer.Writer(database).unwind(0)
        node.mine(mined)
        while not indexer.step():
            pass
        assert database.value("indexer/blocks_get_head") == node.head()
        assert digest(database_url) == fresh_digest(postgres, template, node)


def test_a_session_after_a_failure_of_the_node_asks_nothing_of_its_chain_again(
    database, database_url
):
    """The next step has the calls of a step without a failure; a fork is followed with the chain
    checked anew."""
    methods = []

    def note(calls, forward):
        methods.extend(call["method"] for call in calls)
        return faulty_node.Reply(body=forward(calls))

    with Anvil() as anvil, FaultyNode(anvil.url) as node:
        settings = settings_for(database_url, node.url)
        indexer = ChainIndexer(settings, database, Node(settings.rpc_urls), threading.Event())

        def step():
            methods.clear()
            indexer.step()
            return list(methods)

        node.fault = note
        assert {"eth_chainId", "eth_config"} < {*step()}
        while indexer.step() == 0.0:
            pass
        anvil.mine()
        usual = step()
        assert usual.count("eth_chainId") == 1
        for _ in range(2):
            anvil.mine()
            node.fault = faulty_node.status(502)
            step()
            node.fault = note
            assert step() == usual
        fork = anvil.snapshot()
        anvil.mine()
        step()
        anvil.revert(fork)
        anvil.mine(2)
        assert "eth_config" in step()
