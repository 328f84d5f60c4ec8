"""SCAN_BODIES: blocks are stored whole, as their roots prove them."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from scan.contracts import transaction_contents
from scan.contracts.transaction_contents import TransactionContents
from scan.database import connection, migrations
from scan.ethereum import stored_blocks, transaction_reader
from scan.ethereum.blocks import StoredBody
from tests.support import indexing, table_digest
from tests.support.database import execute

# What no bytes of a transaction have, or apart from its other fields, and what test nodes add.
NOT_STORED = frozenset(
    "hash blockHash blockNumber blockTimestamp transactionIndex from gasPrice input blobs"
    " commitments cellProofs proofs".split()
)
# By the type: those before EIP-1559 have a gas price; legacy ones have no chain of their own.
NOT_STORED_OF = {
    "0x0": NOT_STORED - {"gasPrice"} | {"chainId"},
    "0x1": NOT_STORED - {"gasPrice"},
    **dict.fromkeys(("0x2", "0x3", "0x4"), NOT_STORED),
}
A_TRANSACTION = """
SELECT '0x' || encode(t.hash, 'hex'), b.number, '0x' || encode(b.hash, 'hex'), t.transaction_index
FROM transactions t JOIN blocks b ON b.number = t.block_number LIMIT 1
"""


def bodies(url):
    rows = execute(url, "SELECT block_number, digest, body FROM block_bodies ORDER BY 1")
    return {
        number: stored_blocks.StoredBlock(number, StoredBody(bytes(digest_), bytes(body)))
        for number, digest_, body in rows
    }


def bodies_from(url):
    return execute(url, "SELECT block_number FROM bodies_from")


def normal(value):
    """Numbers as nodes write them in several ways, and lists of objects."""
    if isinstance(value, list):
        return [normal(item) for item in value]
    if isinstance(value, dict):
        return {name: normal(item) for name, item in value.items()}
    short = isinstance(value, str) and len(value) <= 66 and len(value) != 42
    return int(value, 16) if short else value


def test_a_stored_block_has_all_that_the_node_has_of_its_transactions(indexed, scenario):
    node, stored = scenario.anvil, bodies(indexed.url)
    assert bodies_from(indexed.url) == [(0,)]
    types = set()
    for number in range(node.head() + 1):
        block = node.call("eth_getBlockByNumber", hex(number), True)
        receipts = node.call("eth_getBlockReceipts", hex(number))
        assert (number in stored) == bool(block["transactions"])
        for index, (raw, receipt) in enumerate(zip(block["transactions"], receipts, strict=True)):
            transaction = stored[number].transaction(index)
            types.add(raw["type"])
            assert "0x" + transaction.input.hex() == raw["input"]
            assert transaction.nonce == int(raw["nonce"], 16)
            assert transaction.gas_limit == int(raw["gas"], 16)
            left_out = NOT_STORED_OF[raw["type"]]
            expected = {name: v for name, v in raw.items() if name not in left_out}
            fields = {k: v for k, v in transaction.fields.items() if k in expected}
            assert normal(fields) == normal(expected)
            assert transaction.receipt.status == int(receipt["status"], 16)
            assert transaction.receipt.cumulative_gas_used == int(receipt["cumulativeGasUsed"], 16)
            assert [
                ("0x" + log.address.hex(), ["0x" + t.hex() for t in log.topics], log.data.hex())
                for log in transaction.receipt.logs
            ] == [(log["address"], log["topics"], log["data"][2:]) for log in receipt["logs"]]
            indexes = [log.log_index for log in transaction.receipt.logs]
            assert indexes == [int(log["logIndex"], 16) for log in receipt["logs"]]
    assert types == {"0x0", "0x1", "0x2", "0x3", "0x4"}


def test_bodies_are_stored_from_the_block_on_from_which_they_are_turned_on(database_url, anvil):
    def grow():
        anvil.send(anvil.accounts[0], anvil.accounts[1], value=1)
        anvil.mine()

    for stores, first in ((False, []), (True, [(2,)]), (False, []), (True, [(4,)])):
        grow()
        indexing.Indexing(database_url, anvil.url, stores_bodies=stores).run_until(anvil.head())
        assert bodies_from(database_url) == first
    assert [*bodies(database_url)] == [2, 4]


@pytest.mark.thorough
def test_a_reorganisation_replaces_bodies(database_url, anvil, postgres, template):
    anvil.mine()
    snapshot = anvil.call("evm_snapshot")
    for value in (1, 2):
        anvil.send(anvil.accounts[0], anvil.accounts[1], value=value)
        anvil.mine()
    indexing.Indexing(database_url, anvil.url, stores_bodies=False).run_until(anvil.head())
    anvil.send(anvil.accounts[0], anvil.accounts[1], value=3)
    anvil.mine()
    indexing.Indexing(database_url, anvil.url).run_until(anvil.head())
    assert bodies_from(database_url) == [(4,)]
    anvil.call("evm_revert", snapshot)
    for value in (4, 5, 6, 7):
        anvil.send(anvil.accounts[0], anvil.accounts[2], value=value)
        anvil.mine()
    indexing.Indexing(database_url, anvil.url).run_until(anvil.head())
    assert bodies_from(database_url) == [(2,)]
    values = [body.transaction(0).fields["value"] for body in bodies(database_url).values()]
    assert values == ["0x4", "0x5", "0x6", "0x7"]
    with postgres.cloned(template) as url:
        indexing.Indexing(url, anvil.url).run_until(anvil.head())
        assert table_digest.digest(url) == table_digest.digest(database_url)


DAMAGES = [
    lambda body, other: body[:-1],
    lambda body, other: body[:40] + bytes([body[40] ^ 1]) + body[41:],
    lambda body, other: b"",
    lambda body, other: b"no frame of zstandard",
    lambda body, other: other,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_body_is_an_error(indexed, damage):
    [(digest_, body), (_, other)] = execute(
        indexed.url,
        "SELECT digest, body FROM block_bodies ORDER BY octet_length(body) DESC LIMIT 2",
    )
    stored = StoredBody(bytes(digest_), damage(bytes(body), bytes(other)))
    with pytest.raises(stored_blocks.DamagedBody, match="of block 7 are damaged"):
        stored_blocks.StoredBlock(7, stored)


def test_threads_that_read_a_block_at_once_decode_it_once(indexed, monkeypatch):
    [row] = execute(
        indexed.url,
        "SELECT b.number, b.hash, s.digest, s.body"
        " FROM blocks b JOIN block_bodies s ON s.block_number = b.number LIMIT 1",
    )
    decoded = []

    def decode(*arguments):
        decoded.append(arguments)
        return stored_blocks.StoredBlock(*arguments)

    monkeypatch.setattr(transaction_contents, "StoredBlock", decode)
    database = connection.Database(indexed.url, statement_timeout_ms=5_000)
    blocks = TransactionContents(database)
    with ThreadPoolExecutor(8) as threads:
        results = [*threads.map(lambda _: blocks.keep(*row), range(8))]
    assert len(decoded) == 1 and len({*map(id, results)}) == 1
    assert blocks.newest() == [bytes(row[1])]
    database.close()


def test_a_transaction_of_a_malformed_block_counts_as_not_stored(postgres, indexed_template):
    malformed = stored_blocks.stored_body([b"\xc0"], [b"\xc0"])  # with the digest of these bytes
    with (
        postgres.cloned(indexed_template) as url,
        closing(connection.Database(url, statement_timeout_ms=0)) as database,
    ):
        [row] = execute(url, A_TRANSACTION)
        indexed = transaction_reader.IndexedTransaction(*row, None)
        assert TransactionContents(database).stored_transaction(indexed)
        execute(url, "UPDATE block_bodies SET digest = %s, body = %s", *malformed)
        assert TransactionContents(database).stored_transaction(indexed) is None


@pytest.mark.thorough
def test_a_database_from_before_bodies_has_them_from_its_next_block_on(database_url, anvil):
    indexing.Indexing(database_url, anvil.url, stores_bodies=False).run_until(anvil.head())
    execute(database_url, "DROP TABLE block_bodies, bodies_from")
    execute(database_url, "UPDATE schema_state SET digest = ''")
    migrations.run(indexing.settings_for(database_url, anvil.url))
    anvil.send(anvil.accounts[0], anvil.accounts[1], value=1)
    anvil.mine()
    indexing.Indexing(database_url, anvil.url).run_until(anvil.head())
    assert [*bodies(database_url)] == [anvil.head()]
    assert bodies_from(database_url) == [(anvil.head(),)]
