"""An extension that is turned on late says from which block on it is complete."""

import pytest

from scan.extensions.operations.doctor.checks import check_database
from tests.support.indexing import Indexing, client_over, index_apart
from tests.support.request_contracts import WITHDRAWALS
from tests.support.world import World

pytestmark = pytest.mark.thorough

LOGGER = "0x604c5fa000"  # logs 76 bytes, as the contract does for a request


class Requests(World):
    """A request in each block."""

    def ask(self, blocks):
        for _ in range(blocks):
            self.anvil.send(self.me, WITHDRAWALS)
            self.anvil.mine()

    def index(self):
        Indexing(self.url, self.anvil.url).run_until(self.head)

    def listed(self):
        """The blocks of the list, its total, and from which block on it is complete."""
        client = client_over(self.url, self.anvil.url)
        body = client.get("/api/v1/execution-requests?orderBy=asc").json
        since = client.get("/api/v1/stats").json.get("completeFrom", {})
        assert since.get("execution_requests") == body.get("completeFrom")
        blocks = [row["blockNumber"] for row in body["requests"]]
        return blocks, body["total"], body.get("completeFrom")


@pytest.fixture
def chain(anvil, places):
    anvil.call("anvil_setCode", WITHDRAWALS, LOGGER)
    with Requests(anvil, places) as chain:
        yield chain


def test_an_extension_that_was_off_says_from_which_block_on_it_is_complete(chain, anvil):
    chain.ask(3)
    index_apart(chain.url, anvil, "none")
    chain.ask(2)
    chain.index()
    assert chain.listed() == ([4, 5], 2, 4)
    file = chain.client.get("/api/v1/execution-requests?format=csv")
    assert file.headers["X-Scan-Complete-From"] == "4"
    assert "requestCount" not in (older := chain.get("/api/v1/blocks/3"))
    assert "execution_requests" in older["incomplete"]
    assert "incomplete" not in chain.get("/api/v1/blocks/4")
    transaction = chain.get("/api/v1/transactions?blockTo=1")["transactions"][0]["hash"]
    assert "incomplete" in chain.transaction(transaction)
    assert "blobs, execution requests" in chain.get("/block/3")
    assert "Not indexed for this block" in chain.get(f"/tx/{transaction}")
    assert "Complete from block 4 on" in chain.get("/user-operations")
    assert chain.audit() == 0
    outcomes = check_database(chain.database)
    text = "execution_requests lacks rows before block 4: it was off then"
    assert text in [outcome.text for outcome in outcomes]
    chain.ask(1)
    index_apart(chain.url, anvil, "none")
    chain.ask(1)
    index_apart(chain.url, anvil, "block_records")
    assert chain.listed() == ([4, 5, 7], 3, 7)


def test_a_fork_below_that_block_makes_the_rows_after_it_complete(chain, anvil):
    chain.ask(3)
    index_apart(chain.url, anvil, "none")
    chain.ask(1)
    chain.index()
    for depth, expected in ((2, 3), (4, 2)):
        sent = {"from": chain.you, "to": WITHDRAWALS}
        chain.anvil.reorganise(depth, [({**sent, "nonce": hex(n)}, n) for n in range(depth)])
        chain.ask(1)
        chain.index()
        blocks, total, complete_from = chain.listed()
        assert (total, complete_from) == (len(blocks), expected)
        assert blocks[0] == expected
