"""The journal of orphaned blocks: what it keeps of them, and which block they have in common with
the chain, through forks of forks and back."""

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from app import create_app
from scan.ethereum.blocks import EventLog
from scan.ethereum.served_chain import BlockId
from scan.ethereum.sparse_tables import InternalTransfer, TransferType
from scan.queries.cursors import newest_common_block
from scan.queries.reader import Reader
from tests.support import indexing, made_blocks
from tests.support.database import execute, insert, store_all_logs
from tests.support.lists import ONLY_OF_ONE_BLOCK
from tests.support.serving import NOWHERE

ANNA, BERT = made_blocks.address("anna"), made_blocks.address("bert")


class Branches:
    """A chain, and the newest block it has in common with any block it ever had."""

    def __init__(self, url, database, chain):
        self.url, self.database, self.chain = url, database, chain
        self.execute = partial(execute, url)
        self._app = create_app(indexing.settings_for(url, NOWHERE))

    def append(self, blocks=1):
        for _ in range(blocks):
            self.chain.append([made_blocks.Move(ANNA, BERT)])
        return self.head()

    def head(self):
        number, block_hash, *_ = self.database.rows("indexer/blocks_get_head")[0]
        return BlockId(number, bytes(block_hash))

    def common(self, block):
        return newest_common_block(Reader(self._app.extensions["scan"].sources, "test"), block)


@pytest.fixture
def branches(database_url, database, chain):
    return Branches(database_url, database, chain)


def test_a_block_that_comes_back_is_in_the_chain_again(branches):
    fork = branches.append(2)
    block = branches.append()
    again = branches.append(2)
    branches.execute("CREATE TABLE kept AS SELECT * FROM blocks")
    branches.chain.unwind(fork.number)
    assert branches.common(again) == fork
    branches.execute("INSERT INTO blocks SELECT * FROM kept WHERE number IN (2, 3)")
    assert branches.common(block) == block
    # Block 3 of the branch came back, too: that is the newest in common, not where they parted.
    [(block_hash,)] = branches.execute("SELECT hash FROM blocks WHERE number = 3")
    assert branches.common(again) == BlockId(3, bytes(block_hash))


def test_where_all_is_taken_back_what_came_before_is_in_common(branches):
    first = branches.append()
    head = branches.append(2)
    parent = branches.execute("SELECT parent_hash FROM blocks WHERE number = 0")[0][0]
    insert(branches.url, "chain", chain_id=1)
    branches.chain.unwind(-1)
    branches.append(1)
    for block in (first, head):
        assert branches.common(block) == BlockId(-1, bytes(parent))


def test_the_journal_keeps_what_the_block_had(branches):
    long_data = b"\7" * 20_000
    store_all_logs(branches.url)
    branches.append()
    branches.chain.append(
        [made_blocks.Move(ANNA, BERT, tokens=5), made_blocks.Move(BERT, None, contract=ANNA)],
        [EventLog(0, 0, ANNA, (b"\1" * 32,), b"\1"), EventLog(1, 1, ANNA, (), long_data)],
        internal_transfers=[InternalTransfer(0, 0, TransferType.CALL, ANNA, BERT, 7)],
        is_traced=True,
    )
    client = indexing.client_over(branches.url)
    lists = ("transactions", "token_transfers", "internal_transfers", "logs")
    listed = {
        name: client.post(
            "/api/v1/query", json={"entity": name, "filter": {"blockFrom": 1}, "orderBy": "asc"}
        ).get_json()["data"]
        for name in lists
    }
    listed["heads"] = [client.get("/api/v1/blocks/1").get_json()]
    for name in ONLY_OF_ONE_BLOCK:
        listed["heads"][0].pop(name, None)
    for log in listed["logs"]:
        del log["event"]  # decoded by the list
    listed["logs"][1] |= {"data": None, "dataOmitted": True}
    branches.chain.unwind(0)
    [(events, size)] = branches.execute("SELECT events, events_bytes FROM orphaned_blocks")
    assert list(events) == ["heads", *lists]
    assert events == listed
    assert size > 1000


def test_the_journal_is_bounded(branches):
    fork = branches.append()
    head = branches.append(3)
    branches.chain.unwind(fork.number)
    old = datetime.now(UTC) - timedelta(days=8)
    branches.execute("UPDATE orphaned_blocks SET orphaned_at = %s WHERE number < 3", old)
    branches.execute("UPDATE orphaned_blocks SET events_bytes = 600000000 WHERE number = 3")
    branches.append()
    branches.chain.unwind(fork.number)
    assert branches.execute(
        "SELECT number, events IS NULL FROM orphaned_blocks ORDER BY orphaned_at"
    ) == [(3, True), (1, False)]
    assert branches.common(head) == fork
    branches.execute(
        "INSERT INTO orphaned_blocks SELECT sha256(n::text::bytea), n, '', 0, '', %s, NULL, 0"
        " FROM generate_series(1, 10010) n",
        datetime.now(UTC) - timedelta(days=1),
    )
    branches.append()
    branches.chain.unwind(fork.number)
    [(count, oldest)] = branches.execute("SELECT count(*), min(number) FROM orphaned_blocks")
    assert (count, oldest) == (10_000, 1)


def test_a_deep_fork_is_noted_without_its_events(branches):
    fork = branches.append()
    head = branches.append()
    branches.execute("UPDATE blocks SET log_count = 100000 WHERE number = 1")
    branches.chain.unwind(fork.number)
    assert branches.execute("SELECT events, events_bytes FROM orphaned_blocks") == [(None, 0)]
    branches.append()
    assert branches.common(head) == fork
