"""Withdrawals of builders (EIP-7732) in a made chain with headers of Amsterdam: their index has the
flag 2^40, and is never shown as a validator's."""

import csv
from contextlib import closing

import pytest
import rlp

from scan.database.connection import Database
from scan.extensions.chains.tests.rollup import history
from scan.extensions.demo.tests.replaying import served
from scan.extensions.exports.table_export import ExportOptions, export
from tests.support import auditing, expected, indexing
from tests.support.chain_forms import accounts, encoding, made_chain, others

SEPOLIA, FLAG = 11_155_111, 2**40
PAYEE = accounts.address("builder's account")
# Validators and builders by index, the last of the largest index that the flag leaves.
VALIDATORS, BUILDERS = (42, FLAG - 1), (0, 7, FLAG - 1)
INDEXES = (*VALIDATORS, *(FLAG + builder for builder in BUILDERS))


def made():
    fields = {"withdrawals": [], "withdrawalsRoot": encoding.list_root([])}
    chain = made_chain.MadeChain(SEPOLIA, others.GENESIS, **fields)
    chain.header_fields = (*encoding.HEADER_FIELDS, "blockAccessListHash", "slotNumber")
    withdrawals = [
        {"index": number, "validatorIndex": index, "address": PAYEE, "amount": 9 + number}
        for number, index in enumerate(INDEXES)
    ]
    for withdrawal in withdrawals:
        chain.move(None, PAYEE, int(withdrawal["amount"]) * made_chain.GWEI)
    root = encoding.list_root([rlp.encode([*withdrawal.values()]) for withdrawal in withdrawals])
    amsterdam = {"blockAccessListHash": made_chain.word("list"), "slotNumber": 9_000_000}
    chain.mine(withdrawals=withdrawals, withdrawalsRoot=root, **amsterdam)
    return chain


@pytest.fixture(scope="module")
def indexed(shared_database_url):
    with served(made()) as node:
        yield indexing.Indexing(shared_database_url, node.url).run_until(1)


def test_doors_name_builders_or_keep_the_index_of_the_block_as_expected(indexed):
    """Which no validator has: other forms have one field for both."""
    expected.compare(__file__, indexed.client(), {"payee": "0x" + PAYEE.hex()})


def test_files_have_a_column_of_builders(indexed, tmp_path):
    with closing(Database(indexed.url, statement_timeout_ms=5_000)) as database:
        export(database, ExportOptions(("withdrawals",), "csv", tmp_path, 100, None, None))
    [path] = (tmp_path / "withdrawals").iterdir()
    rows = [*csv.DictReader(path.read_text().splitlines())]
    assert [row["validator_index"] for row in rows] == [*map(str, INDEXES)]
    assert [row["builder_index"] for row in rows] == ["", "", *map(str, BUILDERS)]


def test_what_builders_withdrew_is_in_histories_and_the_audit_agrees(indexed):
    rows, page = history(indexed.client(), "0x" + PAYEE.hex())
    assert sum(int(row["amount"]) for row in rows) == made().balance(PAYEE)
    assert (page["complete"], page["unexplained"]) == (True, "0")
    assert auditing.run(indexed.settings, node=True) == 0
