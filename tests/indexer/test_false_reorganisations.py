"""What takes no block back: a hash that a node names without the block that has it, where the block
itself is the indexed one, and a node that is behind. No reader is told that anything was replaced.
"""

from contextlib import suppress

import pytest

from scan.ethereum import node_errors
from scan.indexer import fork_finder
from tests.support import database, faulty_node, table_digest
from tests.support.indexing import Indexing
from tests.support.serving import wait_until

pytestmark = pytest.mark.thorough

BLOCKS = 6


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize(
    ("first", "lies", "others"),
    [(BLOCKS, 1, ",{}"), (2, 8, "")],
    ids=["head, another node", "deep"],
)
def test_a_false_hash_takes_no_block_back(
    anvil, node, first, lies, others, postgres, template, database_url
):
    """Of the head alone, or of many blocks, which looks like a deep fork. Headers from `first` on
    have another hash, `lies` times; whole blocks are right."""
    sender, recipient, *_ = anvil.accounts
    for value in range(BLOCKS):
        anvil.send(sender, recipient, value=value + 1)
        anvil.mine()

    @faulty_node.altering
    def lie(call, answer):
        nonlocal lies
        is_header = call["method"] == "eth_getBlockByNumber" and not call["params"][1]
        if is_header and lies and int(call["params"][0], 16) >= first:
            lies -= 1
            answer["result"]["hash"] = "0x" + "b" * 64

    urls = node.url + others.format(anvil.url)
    with Indexing(database_url, urls, until=BLOCKS) as indexing:
        node.fault = lie
        wait_until(lambda: not lies)
        anvil.send(sender, recipient, value=77)
        anvil.mine()
        indexing.wait_for(BLOCKS + 1)
    assert database.execute(database_url, "SELECT number FROM orphaned_blocks") == []
    assert table_digest.digest(database_url) == table_digest.fresh_digest(postgres, template, anvil)


def behind(newest):
    """A fault: blocks after `newest` are not there, by number or hash."""

    @faulty_node.altering
    def alter(call, answer):
        result = answer.get("result")
        if call["method"] == "eth_blockNumber":
            answer["result"] = hex(newest)
        elif call["method"].startswith("eth_getBlockBy") and int(result["number"], 16) > newest:
            answer["result"] = None

    return alter


@pytest.mark.usefixtures("short_pauses")
def test_a_node_that_is_behind_takes_nothing_back_and_is_a_problem(
    anvil, node, database_url, monkeypatch
):
    monkeypatch.setattr(fork_finder, "STEADY_S", 1.0)
    anvil.mine(50)
    head = anvil.head()
    with Indexing(database_url, node.url, until=head) as indexing:
        client = indexing.client()
        node.fault = behind(head - 40)
        problem = "the node is 40 blocks behind the index"
        database.wait_for_problem(database_url, problem)
        before = node.requests
        wait_until(lambda: node.requests > before + 20)
        ready = client.get("/readyz").json
        names = ("indexedBlock", "headBlock", "lagBlocks", "problem")
        assert [ready[name] for name in names] == [head, head - 40, 0, problem]
        node.fault = None
        anvil.mine()
        indexing.wait_for(head + 1)
        wait_until(lambda: client.get("/readyz").json["problem"] is None)
    assert database.execute(database_url, "SELECT number FROM orphaned_blocks") == []


def test_the_next_node_is_read_while_one_is_behind(anvil, node, database_url):
    anvil.mine(50)
    head = anvil.head()
    with Indexing(database_url, f"{node.url},{anvil.url}", until=head) as indexing:
        node.fault = faulty_node.before(faulty_node.no_development, behind(head - 40))
        anvil.mine()
        indexing.wait_for(head + 1)


def test_a_node_that_stays_on_one_fork_again_is_followed_within_seconds():
    """It went back and forth, so that the present fork is kept for up to a minute; one that still
    does so is not followed before."""
    now = 0.0
    backoff = fork_finder.ForkBackoff(lambda: now)
    for _ in range(8):
        for fork in (b"a", b"b"):
            backoff.record_written(fork)
            backoff.record_unwound(fork)
    for _ in range(40):  # there and back at every second look
        now += 0.5
        with pytest.raises(node_errors.NodeError):
            backoff.require_elapsed()
        backoff.record_agreement()
    steady_from, is_followed = now, False
    while not is_followed:
        now += 0.5
        with suppress(node_errors.NodeError):
            backoff.require_elapsed()
            is_followed = True
    assert fork_finder.STEADY_S <= now - steady_from < fork_finder.STEADY_S + 2
