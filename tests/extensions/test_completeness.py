"""An extension that is turned on late says from which block on it is complete."""

import pytest

from scan.database.connection import Database
from scan.extensions.operations.doctor.checks import check_database
from tests.support import anvil, auditing
from tests.support.indexing import Indexing, client_over, index_apart, settings_for
from tests.support.request_contracts import WITHDRAWALS

pytestmark = pytest.mark.thorough

LOGGER = "0x604c5fa000"  # logs 76 bytes, as the contract does for a request


class Requests:
    """A node with a request in each block, and the index of it."""

    def __init__(self, node, url):
        self.node, self.url = node, url
        node.call("anvil_setCode", WITHDRAWALS, LOGGER)

    def mine(self, blocks):
        for _ in range(blocks):
            self.node.send(self.node.accounts[0], WITHDRAWALS)
            self.node.mine()
        return self.node.head()

    def index(self, extensions=None):
        """By this process, or by another with these extensions alone."""
        if extensions is not None:
            index_apart(self.url, self.node, extensions)
            return
        Indexing(self.url, self.node.url).run_until(self.node.head())

    def get(self, path):
        response = client_over(self.url, self.node.url).get(path)
        assert response.status_code == 200, response.text
        return response

    def listed(self):
        """The blocks of the list, its total, and from which block on it is complete."""
        body = self.get("/api/v1/execution-requests?orderBy=asc").json
        blocks = [row["blockNumber"] for row in body["requests"]]
        assert self.get("/api/v1/stats").json.get("completeFrom", {}).get(
            "execution_requests"
        ) == body.get("completeFrom")
        return blocks, body["total"], body.get("completeFrom")


@pytest.fixture
def chain(database_url):
    with anvil.Anvil() as node:
        yield Requests(node, database_url)


def test_an_extension_that_was_off_says_from_which_block_on_it_is_complete(chain):
    chain.mine(3)
    chain.index("none")
    chain.mine(2)
    chain.index()
    assert chain.listed() == ([4, 5], 2, 4)
    assert chain.get("/api/v1/execution-requests?format=csv").headers["X-Scan-Complete-From"] == "4"
    assert "requestCount" not in (older := chain.get("/api/v1/blocks/3").json)
    assert "execution_requests" in older["incomplete"]
    assert "incomplete" not in chain.get("/api/v1/blocks/4").json
    transaction = chain.get("/api/v1/transactions?blockTo=1").json["transactions"][0]["hash"]
    assert "incomplete" in chain.get(f"/api/v1/transactions/{transaction}").json
    assert "blobs, execution requests" in chain.get("/block/3").text
    assert "Not indexed for this block" in chain.get(f"/tx/{transaction}").text
    assert "Complete from block 4 on" in chain.get("/user-operations").text
    assert auditing.run(settings_for(chain.url, chain.node.url)) == 0
    outcomes = check_database(Database(chain.url, statement_timeout_ms=0))
    text = "execution_requests lacks rows before block 4: it was off then"
    assert text in [outcome.text for outcome in outcomes]
    chain.mine(1)
    chain.index("none")
    chain.mine(1)
    chain.index("block_records")
    assert chain.listed() == ([4, 5, 7], 3, 7)


def test_a_fork_below_that_block_makes_the_rows_after_it_complete(chain):
    chain.mine(3)
    chain.index("none")
    chain.mine(1)
    chain.index()
    for depth, expected in ((2, 3), (4, 2)):
        pairs = [
            ({"from": chain.node.accounts[1], "to": WITHDRAWALS, "nonce": hex(n)}, n)
            for n in range(depth)
        ]
        chain.node.reorganise(depth, pairs)
        chain.mine(1)
        chain.index()
        blocks, total, complete_from = chain.listed()
        assert (total, complete_from) == (len(blocks), expected)
        assert blocks[0] == expected
