"""However a chain is read, its tables are the same: from nodes that offer less, refuse or alter
answers, in batches and transactions of any size, by one process or two."""

import random
import threading
import time
from collections import namedtuple

import pytest

from scan.ethereum.client import Node
from scan.indexer.block_source import BlockSource
from tests.support import faulty_node, indexing, table_digest
from tests.support.altered_fields import AlteredFields

RETRIES = {"ethereum.node_errors.MAX_PAUSE_S": 0.2, "ethereum.node_errors.REFUSAL_PAUSE_S": 0.05}
PROCESS = {"indexer.prefetch.MIN_PROCESS_BLOCKS": 1}  # a second one, also for few blocks
FORGETFUL = {"indexer.contract_inspection.MAX_CONTRACTS": 0}  # unless the database has it
TOGETHER = {"indexer.chain_indexer.COMMIT_SHARE": 1}  # batches in one transaction


def batches(blocks):
    names = ("indexer.prefetch.FETCH_BLOCKS", "indexer.prefetch.BATCH_BLOCKS")
    return dict.fromkeys(names, blocks)


def offers_less(calls, forward):
    """No receipts by block, no debug traces, no state by hash, and small batches."""
    if len(calls) > 50:
        return faulty_node.batch_error(calls, forward)
    answers = faulty_node.refuse_block_hashes(calls, forward).body
    for call, answer in zip(calls, answers, strict=True):
        if call["method"] in ("eth_getBlockReceipts", "debug_traceBlockByHash"):
            answer.pop("result", None)
            answer["error"] = {"code": -32601, "message": "Method not found"}
    return faulty_node.Reply(body=answers)


def altered_headers(_):
    dice = random.Random(1)

    def alter(_, answer):
        header = answer.get("result")
        if isinstance(header, dict) and "receiptsRoot" in header and dice.random() < 0.3:
            field = dice.choice(("timestamp", "gasUsed", "gasLimit", "baseFeePerGas"))
            header[field] = hex(int(header[field], 16) + dice.randint(1, 10**6))

    return faulty_node.altering(alter)


class TwoAtATime:
    """A Fault: a node that takes two requests at a time, and refuses a third."""

    def __init__(self, _):
        self._places = threading.Semaphore(2)
        self.is_met = False

    def __call__(self, calls, forward):
        if not self._places.acquire(blocking=False):
            self.is_met = True
            return faulty_node.too_many_requests(0)(calls, forward)
        try:
            time.sleep(0.01)
            return faulty_node.Reply(body=forward(calls))
        finally:
            self._places.release()


class Way(namedtuple("Way", "settings fault rate", defaults=({}, lambda honest: None, 0.0))):
    """`settings`: attributes of modules of scan; `fault`: of an honest index; `rate`: of requests
    that meet a passing fault."""


QUICK = {"flat traces": Way(fault=lambda _: faulty_node.refuse_method("debug_traceBlockByHash"))}
LONG = {
    "batches together": Way(batches(2) | TOGETHER | FORGETFUL),
    "few transfers at a time": Way({"extensions.internal_transfers.block_traces.MAX_TRANSFERS": 0}),
    "batches together, nothing forgotten": Way(batches(2) | TOGETHER),
    "block by block": Way(batches(1)),
    "batches of seven blocks": Way(batches(7)),
    "a node that offers less": Way(fault=lambda _: offers_less),
    "a node that offers less, two processes": Way(PROCESS, lambda _: offers_less),
    "two processes": Way(PROCESS),
    "two processes that forget": Way(batches(2) | PROCESS | FORGETFUL),
    "two processes and passing faults": Way(batches(5) | PROCESS | RETRIES, rate=0.1),
    "two requests at a time": Way(batches(2) | RETRIES, TwoAtATime),
    "two requests at a time, two processes": Way(batches(2) | PROCESS | RETRIES, TwoAtATime),
    "altered headers": Way(fault=altered_headers),
    "altered transactions and receipts": Way(fault=lambda honest: AlteredFields(honest, seed=2)),
}


@pytest.mark.parametrize(
    "way",
    [*QUICK.values(), *(pytest.param(way, marks=pytest.mark.long) for way in LONG.values())],
    ids=[*QUICK, *LONG],
)
def test_tables_are_the_same(scenario, indexed, database_url, monkeypatch, way):
    for name, value in way.settings.items():
        monkeypatch.setattr(f"scan.{name}", value)
    honest = indexed.url
    with faulty_node.FaultyNode(scenario.anvil.url, seed=3, rate=way.rate) as node:
        node.fault = fault = way.fault(honest)
        indexing.Indexing(database_url, node.url).run_until(scenario.anvil.head())
    if isinstance(fault, AlteredFields | TwoAtATime):
        assert fault.is_met
    assert table_digest.digest(database_url) == table_digest.digest(honest)


def test_receipts_that_are_read_one_by_one_are_those_of_their_blocks(scenario):
    url, head = scenario.anvil.url, scenario.anvil.head()
    with faulty_node.FaultyNode(url) as node:
        node.fault = faulty_node.refuse_method("eth_getBlockReceipts")
        one_by_one = BlockSource(Node([node.url]), traces="off").blocks(0, head)
    assert one_by_one == BlockSource(Node([url]), traces="off").blocks(0, head)
