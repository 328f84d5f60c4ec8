"""Withdrawals of builders (EIP-7732) in a made chain with headers of Amsterdam: their index has the
flag 2^40, and is never shown as a validator's."""

import csv

import pytest
import rlp

from scan.database.connection import Database
from scan.ethereum.blocks import MalformedBlock
from scan.extensions.blockscout.tests.published import faults
from scan.extensions.chains.tests.rollup import history
from scan.extensions.demo.tests.replaying import served
from scan.extensions.exports import parquet, table_files
from scan.extensions.exports.table_export import ExportOptions, export
from tests.support import auditing, faulty_node, indexing
from tests.support.chain_forms import accounts, encoding, made_chain, others
from tests.support.indexing import source_of

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
def indexed(postgres, template):
    with served(made()) as node, postgres.cloned(template) as url:
        yield indexing.Indexing(url, node.url).run_until(1)


def test_records_name_builders_and_keep_the_index_of_the_block(indexed):
    withdrawals = indexed.client().get("/api/v1/blocks/1").json["withdrawals"]
    assert [w["validatorIndex"] for w in withdrawals] == [*INDEXES]
    assert [w.get("builderIndex") for w in withdrawals] == [None, None, *BUILDERS]
    assert ["builderIndex" in w for w in withdrawals] == [False, False, True, True, True]


def test_pages_show_builders_as_such(indexed):
    text = indexed.client().get("/block/1").text
    for builder in BUILDERS:
        assert f'data-label="Validator or builder">builder {builder}</td>' in text
        assert str(FLAG + builder) not in text
    for validator in VALIDATORS:
        assert f'data-label="Validator or builder">{validator}</td>' in text


def test_compatible_forms_give_the_index_of_the_block(indexed):
    """Which no validator has: Etherscan's and Blockscout's forms have one field for both."""
    query = {"module": "account", "action": "txsBeaconWithdrawal", "address": "0x" + PAYEE.hex()}
    rows = indexed.client().get("/api", query_string=query).json["result"]
    assert {row["validatorIndex"] for row in rows} == {*map(str, INDEXES)}
    body = indexed.client().get("/api/v2/blocks/1/withdrawals").json
    assert not faults("/api/v2/blocks/{}/withdrawals", body)
    assert {item["validator_index"] for item in body["items"]} == {*INDEXES}


NUMBERS = ("validator_index", "builder_index")


def rows_of_csv(path):
    with path.open(newline="") as file:
        return [
            {name: int(row[name]) if row[name] else None for name in NUMBERS}
            for row in csv.DictReader(file)
        ]


def rows_of_parquet(path):
    columns = parquet.for_engines(table_files.columns_of("withdrawals"))
    return parquet.read_file(path, columns).to_pylist()


@pytest.mark.parametrize(
    ("format_", "rows_of"), [("csv", rows_of_csv), ("parquet", rows_of_parquet)]
)
def test_files_have_a_column_of_builders(format_, rows_of, indexed, tmp_path):
    database = Database(indexed.url, statement_timeout_ms=5_000)
    export(database, ExportOptions(("withdrawals",), format_, tmp_path, 100, None, None))
    database.close()
    [path] = (tmp_path / "withdrawals").iterdir()
    rows = rows_of(path)
    assert [row["validator_index"] for row in rows] == [*INDEXES]
    assert [row["builder_index"] for row in rows] == [None, None, *BUILDERS]


def test_what_builders_withdrew_is_in_histories_and_the_audit_agrees(indexed):
    rows, page = history(indexed.client(), "0x" + PAYEE.hex())
    assert sum(int(row["amount"]) for row in rows) == made().balance(PAYEE)
    assert (page["complete"], page["unexplained"]) == (True, "0")
    assert auditing.run(indexed.settings, node=True) == 0


@pytest.mark.parametrize("index", [7, FLAG + 8, FLAG - 1 + FLAG])
def test_a_node_that_names_another_builder_is_refused(index, indexed):
    @faulty_node.altering
    def renamed(_, answer):
        result = answer.get("result")
        if isinstance(result, dict) and result.get("withdrawals"):
            result["withdrawals"][3]["validatorIndex"] = hex(index)

    with (
        faulty_node.FaultyNode(indexed.settings.rpc_urls[0], renamed) as node,
        pytest.raises(MalformedBlock, match="withdrawals and withdrawalsRoot"),
    ):
        source_of(node).blocks(1, 1)
