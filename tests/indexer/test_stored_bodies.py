"""SCAN_BODIES: blocks are stored whole, as their roots prove them."""

from contextlib import closing

import pytest

from scan.contracts.transaction_contents import TransactionContents
from scan.database import connection
from scan.ethereum import stored_blocks, transaction_reader
from scan.ethereum.blocks import StoredBody
from tests.support import indexing
from tests.support.database import execute


def bodies(url):
    rows = execute(url, "SELECT block_number, digest, body FROM block_bodies ORDER BY 1")
    return {
        number: stored_blocks.StoredBlock(number, StoredBody(bytes(digest_), bytes(body)))
        for number, digest_, body in rows
    }


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
    assert execute(indexed.url, "SELECT block_number FROM bodies_from") == [(0,)]
    # What no bytes of a transaction have, or apart from its other fields, and what test nodes add.
    not_stored = frozenset(
        "hash blockHash blockNumber blockTimestamp transactionIndex from gasPrice input blobs"
        " commitments cellProofs proofs".split()
    )
    # By the type: those before EIP-1559 have a gas price; legacy ones have no chain of their own.
    not_stored_of = {
        "0x0": not_stored - {"gasPrice"} | {"chainId"},
        "0x1": not_stored - {"gasPrice"},
        **dict.fromkeys(("0x2", "0x3", "0x4"), not_stored),
    }
    types = set()
    for number in range(node.head() + 1):
        block = node.call("eth_getBlockByNumber", hex(number), True)
        assert (number in stored) == bool(block["transactions"])
        for index, raw in enumerate(block["transactions"]):
            transaction = stored[number].transaction(index)
            types.add(raw["type"])
            left_out = not_stored_of[raw["type"]]
            expected = {name: v for name, v in raw.items() if name not in left_out}
            fields = {k: v for k, v in transaction.fields.items() if k in expected}
            assert normal(fields) == normal(expected)
    assert types == {"0x0", "0x1", "0x2", "0x3", "0x4"}


def test_bodies_are_stored_from_the_block_on_from_which_they_are_turned_on(database_url, anvil):
    for stores, first in ((False, []), (True, [(2,)]), (False, []), (True, [(4,)])):
        anvil.send(anvil.accounts[0], anvil.accounts[1], value=1)
        anvil.mine()
        indexing.Indexing(database_url, anvil.url, stores_bodies=stores).run_until(anvil.head())
        assert execute(database_url, "SELECT block_number FROM bodies_from") == first
    assert [*bodies(database_url)] == [2, 4]


def test_a_damaged_body_is_an_error(indexed):
    [(digest_, body), (_, other)] = execute(
        indexed.url,
        "SELECT digest, body FROM block_bodies ORDER BY octet_length(body) DESC LIMIT 2",
    )
    body, other = bytes(body), bytes(other)
    for damaged in (body[:-1], body[:40] + bytes([body[40] ^ 1]) + body[41:], b"", other):
        with pytest.raises(stored_blocks.DamagedBody, match="of block 7 are damaged"):
            stored_blocks.StoredBlock(7, StoredBody(bytes(digest_), damaged))


def test_a_transaction_of_a_malformed_block_counts_as_not_stored(clone, indexed_template):
    malformed = stored_blocks.stored_body([b"\xc0"], [b"\xc0"])  # with the digest of these bytes
    url = clone(indexed_template)
    with closing(connection.Database(url, statement_timeout_ms=0)) as database:
        [row] = execute(
            url,
            "SELECT '0x' || encode(t.hash, 'hex'), b.number, '0x' || encode(b.hash, 'hex'),"
            " t.transaction_index"
            " FROM transactions t JOIN blocks b ON b.number = t.block_number LIMIT 1",
        )
        indexed = transaction_reader.IndexedTransaction(*row, None)
        assert TransactionContents(database).stored_transaction(indexed)
        execute(url, "UPDATE block_bodies SET digest = %s, body = %s", *malformed)
        assert TransactionContents(database).stored_transaction(indexed) is None
