"""The watch of the chain that the nodes serve."""

import threading

from scan.commands import run
from scan.ethereum.client import Node
from scan.indexer.chain_identity import read_identity
from tests.support import faulty_node, indexing, serving


def test_one_wrong_response_is_no_other_chain(anvil, monkeypatch):
    monkeypatch.setattr(run, "LOCAL_EVERY_S", 0.005)
    monkeypatch.setattr(run, "CONFIRM_EVERY_S", 0.02)
    wrong, chain_id = 0, "0x61"

    @faulty_node.altering
    def other_chain(call, answer):
        nonlocal wrong
        if call["method"] == "eth_chainId" and (wrong % 2 == 0 or chain_id != "0x61"):
            answer["result"] = chain_id
        wrong += call["method"] == "eth_chainId"

    with faulty_node.FaultyNode(anvil.url) as node:
        identity = read_identity(Node((node.url,)))
        settings, over = indexing.settings_for("postgresql://none", node.url), threading.Event()
        watch = threading.Thread(
            target=run.watch, args=(settings, run.database_name(identity), over)
        )
        watch.start()
        node.fault = other_chain
        serving.wait_until(lambda: wrong > 10)
        assert not over.is_set()
        chain_id = "0x" + 64 * "f"  # more than a chain's id may be
        serving.wait_until(lambda: wrong > 30)
        assert not over.is_set()
        over.set()
        watch.join()
