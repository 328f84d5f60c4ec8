"""The processes of a long catch-up: they change nothing but speed, and leave no trace."""

import logging
import multiprocessing
import os
import signal
import threading
import time

import psutil
import pytest
from prometheus_client import REGISTRY

from scan.ethereum.blocks import MalformedBlock
from scan.ethereum.client import NodeError
from scan.indexer import block_rows, prefetch, prefetch_process
from tests.support import WAIT_S, faulty_node, indexer_process, serving, table_digest
from tests.support.faulty_node import Reply
from tests.support.indexing import Indexing, settings_for

pytestmark = pytest.mark.thorough

SPAWNING = multiprocessing.get_context  # before tests/fixtures.py replaces it


@pytest.fixture(autouse=True)
def spawned_workers(monkeypatch):
    monkeypatch.setattr(multiprocessing, "get_context", SPAWNING)


def workers(pid):
    """Processes that multiprocessing has spawned, but for its own that tracks resources."""
    running = psutil.process_iter(["ppid", "cmdline"])
    children = [process for process in running if process.info["ppid"] == pid]
    return [child for child in children if "spawn_main" in " ".join(child.info["cmdline"] or ())]


def receipts_after(seconds):
    """What the processes request takes its time; all else is quick."""

    def reply(calls, forward):
        if any(call["method"] == "eth_getBlockReceipts" for call in calls):
            time.sleep(seconds)
        return Reply(body=forward(calls))

    return reply


def start_process(indexed, url):
    """Those of the indexer of the scenario's chain: the database says which chain that is."""
    run = prefetch.FetchLimit(threading.Event()).run
    return prefetch_process.FetchProcesses(settings_for(indexed.url, url), run)


@pytest.fixture
def process(indexed, scenario_node):
    started = start_process(indexed, scenario_node.url)
    try:
        yield started
    finally:
        started.close()


@pytest.mark.long
def test_a_killed_process_is_reported_once_and_replaced(
    scenario, indexed, database_url, scenario_node, monkeypatch, caplog
):
    processes, start = [], prefetch_process.FetchProcesses.__init__

    def note_started(self, *arguments):
        start(self, *arguments)
        processes.extend(workers(os.getpid()))

    monkeypatch.setattr(prefetch_process.FetchProcesses, "__init__", note_started)
    scenario_node.fault = receipts_after(0.5)
    always = prefetch.CATCH_UP._replace(process_blocks=1)  # however few blocks there are
    with (
        Indexing(database_url, scenario_node.url, limits=always) as indexing,
        caplog.at_level(logging.WARNING),
    ):
        for number in (1, 2, 3):
            least = number * prefetch_process.PROCESSES
            serving.wait_until(lambda least=least: len(processes) >= least)
            processes[-1 - number % 2].kill()
        indexing.wait_for(scenario.anvil.head())
    reports = [r for r in caplog.records if "a process that fetches blocks ended" in r.getMessage()]
    assert len(reports) == 1
    assert table_digest.digest(database_url) == table_digest.digest(indexed.url)


def test_errors_arrive_whole(process, scenario_node):
    scenario_node.fault = faulty_node.too_many_requests(7)
    with pytest.raises(NodeError, match="429") as refused:
        process.submit(0, 3).result(WAIT_S)
    assert refused.value.retry_after_s == 7
    scenario_node.fault = faulty_node.foreign_receipts
    with pytest.raises(MalformedBlock, match="block 2 "):
        process.submit(2, 3).result(WAIT_S)
    scenario_node.fault = None
    blocks = process.submit(0, 3).result(WAIT_S).blocks
    assert [block.contracts.number for block in blocks] == [0, 1, 2, 3]
    assert all(isinstance(block, block_rows.BlockRows) for block in blocks)


def test_results_belong_to_their_ranges_and_are_counted(process, scenario_node):
    def counted():
        return [
            REGISTRY.get_sample_value(f"scan_rpc_{name}_total", labels) or 0.0
            for name, labels in (
                ("calls", {"method": "eth_getBlockReceipts"}),
                ("failures", {"reason": "NodeError"}),
            )
        ]

    calls, failures = counted()
    futures = [process.submit(number, number) for number in range(6)]
    assert [f.result(WAIT_S).blocks[0].contracts.number for f in futures] == list(range(6))
    scenario_node.fault = faulty_node.status(503)
    with pytest.raises(NodeError):
        process.submit(0, 0).result(WAIT_S)
    assert counted() == [calls + 7, failures + 1]


def test_an_ended_process_returns_nothing(indexed, scenario_node):
    scenario_node.fault = receipts_after(20)
    process = start_process(indexed, scenario_node.url)
    waiting = process.submit(0, 3)
    for started in workers(os.getpid()):
        started.kill()
    with pytest.raises(prefetch_process.ProcessEnded, match="ended with -9"):
        waiting.result(WAIT_S)
    serving.wait_until(lambda: not process.are_alive)
    with pytest.raises(prefetch_process.ProcessEnded):
        process.submit(0, 3).result(WAIT_S)
    process.close()
    process.close()


@pytest.fixture
def busy(anvil, node, database_url):
    """`scan index` while its processes wait for the node; and these."""
    anvil.mine(prefetch.CATCH_UP.process_blocks + 100)
    node.fault = receipts_after(20)
    with indexer_process.IndexerProcess(database_url, node.url) as indexer:
        serving.wait_until(lambda: len(workers(indexer.pid)) == prefetch_process.PROCESSES)
        time.sleep(1.0)
        yield indexer, workers(indexer.pid)


def test_a_killed_indexer_leaves_no_process(busy):
    indexer, processes = busy
    indexer.kill()
    _, alive = psutil.wait_procs(processes, WAIT_S)
    assert not alive
    assert "Traceback" not in indexer.output()


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_indexer_ends_at_once_and_quietly(busy, number):
    indexer, processes = busy
    assert indexer.terminate(number) == 0
    assert not any(process.is_running() for process in processes)
    assert "Traceback" not in indexer.output()
