"""The table of values: each is proven, computed here, or said by the node and shown as that.

A node that lies, over HTTP before a real one or a made chain, alters each field of each answer that
values come from, one at a time: what is proven or computed is refused or stored right.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import rlp

from app import create_app
from scan.api.openapi.schemas import schemas
from scan.database.connection import Database
from scan.ethereum.blob_checks import PRICES
from scan.ethereum.block_encoding import BLOBS_INSIDE
from scan.ethereum.block_validation import STATUSES
from scan.ethereum.blocks import (
    BLOCK_COLUMNS,
    TRANSACTION_COLUMNS,
    FormBlockJson,
    FormReceiptJson,
    MalformedBlock,
    _FormTransactionJson,
)
from scan.ethereum.client import Node
from scan.ethereum.column_types import SAID
from scan.ethereum.transaction_checks import (
    ADDRESSES_AS_SIGNATURES,
    OTHER_SIGNERS,
    SENDERS,
    UNSIGNED,
    UNSIGNED_SENDERS,
)
from scan.extensions.block_records.uncles.block_completion import UNCLES
from scan.extensions.demo.demo_node import DemoNode, Recording
from scan.indexer import block_source
from scan.indexer.block_check import OWN_HEADER, UPDATE
from scan.indexer.block_rows import TableRows, table_rows
from scan.indexer.block_source import BlockSource
from scan.indexer.log_selection import NO_LOGS
from scan.indexer.value_kinds import SAID_WHERE, stored_values
from tests.support.anvil import Anvil
from tests.support.chain_forms.accounts import address
from tests.support.chain_forms.encoding import ENCODINGS, list_root
from tests.support.chain_forms.forms import FORMS
from tests.support.chain_forms.made_chain import ETH, Json, MadeChain, log, word
from tests.support.database import execute
from tests.support.faulty_node import FaultyNode, altering
from tests.support.indexing import Indexing
from tests.support.made_blocks import Chain, Move

ALICE, BOB, COIN = address("Alice"), address("Bob"), address("coin")
TRANSFER = bytes.fromhex("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef")
BLOCKS, RECEIPTS = "eth_getBlockByNumber", "eth_getBlockReceipts"
ALL_LOGS = NO_LOGS._replace(stored="all")
LIES = ("0x7", "0x" + "11" * 20, "0x" + "22" * 32, None)
STRUCTS = {"block": FormBlockJson, "transaction": _FormTransactionJson, "receipt": FormReceiptJson}
# What the indexer makes of each record that it reads. `source` and `blobs` are no fields of nodes
# that are not for tests.
NO_FIELDS = frozenset(("source", "blobs", "transactions", "logs"))
# Receipts repeat fields of transactions, under these names where they are others.
IN_RECEIPTS = {"hash": "transactionHash", "gasPrice": "effectiveGasPrice"}


class Lie(NamedTuple):
    kind: str  # of records
    index: int  # of the record
    field: str
    value: Any
    in_both: bool = False  # in the receipt as well


def records(kind: str, method: str, result: Any) -> list[Json]:
    """The records of a kind in a node's answer."""
    if method == BLOCKS:
        of_block = {"block": [result], "withdrawal": result.get("withdrawals") or []}
        return of_block.get(kind, result["transactions"] if kind == "transaction" else [])
    if kind == "log":
        return [entry for receipt in result for entry in receipt["logs"]]
    return list(result) if kind == "receipt" else []


def put(record: Json, field: str, value: Any) -> None:
    if value is None:
        record.pop(field, None)
    else:
        record[field] = value


class LyingNode:
    """A proxy that tells one lie about block `number`; its answers are read as a node's."""

    def __init__(self, url: str, number: int) -> None:
        self._number = number
        self._proxy = FaultyNode(url)
        self._lie: Lie | None = None
        self._proxy.fault = altering(self._alter)

    def __enter__(self) -> "LyingNode":
        self._proxy.__enter__()
        self._source = BlockSource(Node([self._proxy.url]), traces="off")
        self.true = self._rows()
        return self

    def __exit__(self, *error: Any) -> None:
        self._proxy.__exit__(*error)

    def answers(self) -> dict[str, Any]:
        number = hex(self._number)
        node = Node([self._proxy.url])
        return {BLOCKS: node.call(BLOCKS, number, True), RECEIPTS: node.call(RECEIPTS, number)}

    def _alter(self, call: Json, answer: Json) -> None:
        lie, method = self._lie, call["method"]
        if (
            lie is None
            or method not in (BLOCKS, RECEIPTS)
            or call["params"][0] != hex(self._number)
        ):
            return
        told = records(lie.kind, method, answer["result"])
        if lie.index < len(told):
            put(told[lie.index], lie.field, lie.value)
        if lie.in_both and method == RECEIPTS:
            field = IN_RECEIPTS.get(lie.field, lie.field)
            put(answer["result"][lie.index], field, lie.value)

    def _rows(self) -> TableRows:
        [fetched] = self._source.blocks(self._number, self._number)
        return table_rows(fetched, ALL_LOGS)

    def believed(self, lie: Lie) -> bool:
        """Whether a lie changes what would be stored, and the block does not say so."""
        self._lie = lie
        try:
            rows = self._rows()
            return rows != self.true and rows.block["unproven"] in (
                None,
                self.true.block["unproven"],
            )
        except MalformedBlock:
            return False
        finally:
            self._lie = None


def lies_about(answers: dict[str, Any]) -> Iterator[Lie]:
    """Each field that records have, or may have, with each of LIES, and a number near its own."""
    for kind in ("block", "transaction", "receipt", "log", "withdrawal"):
        method = BLOCKS if kind in ("block", "transaction", "withdrawal") else RECEIPTS
        for index, record in enumerate(records(kind, method, answers[method])):
            known = STRUCTS[kind].__struct_fields__ if kind in STRUCTS else ()
            for field in sorted({*record, *known} - NO_FIELDS):
                true = record.get(field)
                is_short = isinstance(true, str) and 2 < len(true) < 20
                near = [hex(int(true, 16) ^ 1)] if is_short else []
                for value in (*LIES, *near):
                    yield Lie(kind, index, field, value)
                    if kind == "transaction":
                        yield Lie(kind, index, field, value, in_both=True)


@pytest.fixture(autouse=True)
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lie is told whenever it is asked for: to read it again takes time alone."""
    monkeypatch.setattr(block_source, "READS", 1)


def made() -> MadeChain:
    """Block 1 of mainnet has types 0, 2 and 3, a token's transfer, blobs and a withdrawal."""
    chain = MadeChain(1, {ALICE: ETH, BOB: ETH})
    chain.encodings[3] = (
        *(*ENCODINGS[2][:-3], "maxFeePerBlobGas", "blobVersionedHashes", "yParity", "r", "s"),
    )
    parties = [holder.rjust(32, b"\0") for holder in (ALICE, BOB)]
    moved = {"logs": [log(COIN, TRANSFER, *parties, data=(5).to_bytes(32))]}
    chain.pay(ALICE, BOB, 1, type=0)
    chain.pay(BOB, COIN, 2, receipt=moved, input=b"\xa9\x05\x9c\xbb" + bytes(64))
    blobs = {"maxFeePerBlobGas": ETH, "blobVersionedHashes": [bytes([1]) + word("blob")[1:]]}
    chain.pay(ALICE, BOB, 3, type=3, receipt={"blobGasPrice": 159_773}, **blobs)
    withdrawal = {"index": 1, "validatorIndex": 2, "address": BOB, "amount": 32}
    root = list_root([encoded_withdrawal(withdrawal)])
    gas = {"blobGasUsed": 131_072, "excessBlobGas": 40_000_000}
    chain.mine(withdrawals=[withdrawal], withdrawalsRoot=root, **gas)
    return chain


def encoded_withdrawal(withdrawal: Json) -> bytes:
    encoded: bytes = rlp.encode([*withdrawal.values()])
    return encoded


def chosen(lies: list[Lie], is_whole: bool) -> list[Lie]:
    """All lies, or one about each field of each kind of record, of another value each time."""
    by_field: dict[tuple[str, str, bool], list[Lie]] = {}
    for lie in lies:
        by_field.setdefault((lie.kind, lie.field, lie.in_both), []).append(lie)
    return lies if is_whole else [of[n % len(of)] for n, of in enumerate(by_field.values())]


WHOLE = pytest.mark.parametrize("is_whole", [False, pytest.param(True, marks=pytest.mark.long)])


@WHOLE
def test_no_lie_about_a_block_is_believed(is_whole):
    """Of a made chain: of each field of each record, in transactions and receipts together too."""
    chain = DemoNode(Recording(made().lines()), 0)
    with LyingNode(chain.url, 1) as node:
        lies = chosen([*lies_about(node.answers())], is_whole)
        believed = [lie for lie in lies if node.believed(lie)]
    chain.stop()
    assert believed == []
    told = {(lie.kind, lie.field) for lie in lies}
    for kind, columns in (("block", BLOCK_COLUMNS), ("transaction", TRANSACTION_COLUMNS)):
        for name, column in columns.items():
            of = "receipt" if column.of_receipt else kind
            assert not column.json_name or (of, column.json_name) in told, name
    assert {f for k, f in told if k == "withdrawal"} == {
        *("index", "validatorIndex"),
        "address",
        "amount",
    }


@WHOLE
def test_no_lie_about_a_block_of_a_real_node_is_believed(is_whole):
    """Of anvil: a creation with its log, and payments of types 0, 1 and 2."""
    with Anvil() as anvil:
        sender, other, *_ = anvil.accounts
        for fields in (
            {"type": "0x0", "gasPrice": hex(10**10)},
            {"type": "0x1", "gasPrice": hex(10**10)},
        ):
            anvil.send(sender, other, value=1, **fields)
        anvil.send(other, sender, value=2)
        anvil.deploy(sender, "Maker")
        number = anvil.head()
        with LyingNode(anvil.url, number) as node:
            lies = chosen([*lies_about(node.answers())], is_whole)
            believed = [lie for lie in lies if node.believed(lie)]
    assert believed == []


@pytest.fixture(scope="module")
def rollup(postgres: Any, template: str) -> Iterator[Any]:
    """A rollup's index, beside a node that says another value of each field that nothing proves."""
    chain = FORMS["isthmus"]()

    def say(call: Json, answer: Json) -> None:
        if call["method"] == BLOCKS and isinstance(answer.get("result"), dict):
            for sent in answer["result"]["transactions"]:
                if isinstance(sent, dict) and sent["type"] == "0x7e":
                    sent |= {"nonce": "0x77"}
        if call["method"] == RECEIPTS:
            for receipt in answer["result"]:
                if "l1Fee" in receipt:
                    receipt |= {
                        "l1Fee": "0x7777",
                        "operatorFeeConstant": "0x77",
                        "l1GasUsed": "0x9",
                    }

    node = DemoNode(Recording(chain.lines()), 0)
    with FaultyNode(node.url) as proxy, postgres.cloned(template) as url:
        proxy.fault = altering(say)
        yield create_app(Indexing(url, proxy.url).run_until(chain.head).settings).test_client()
    node.stop()


def test_what_is_said_is_stored_and_named(rollup):
    """In lists, details, /query and on the page."""
    records = rollup.get("/api/v1/transactions?limit=100").json["transactions"]
    deposits = [record for record in records if record["type"] == 0x7E]
    others = [record for record in records if record["type"] != 0x7E]
    assert {record["nonce"] for record in deposits} == {0x77}
    assert all("nonce" in record["unproven"] for record in deposits)
    assert {record["feeParts"]["l1"] for record in others} == {str(0x7777)}
    for record in others:
        assert record["unproven"] == ["fee", "feeParts", "chainFields"]
        assert (
            rollup.get(f"/api/v1/transactions/{record['hash']}").json["unproven"]
            == record["unproven"]
        )
    query = {"entity": "transactions", "limit": 100}
    queried = rollup.post("/api/v1/query", json=query).json["data"]
    assert [r["unproven"] for r in queried] == [r["unproven"] for r in records]
    page = rollup.get(f"/tx/{others[0]['hash']}").text
    assert page.count("said by the node") == 1
    assert "said by the node" in page.partition("Transaction fee")[2].partition("</dd>")[0]


SENT = {
    *(
        "hash",
        "fromAddress",
        "toAddress",
        "value",
        "gasPrice",
        "gasUsed",
        "status",
        "nonce",
        "type",
    ),
    *("transactionIndex", "contractAddress", "gasLimit", "maxFeePerGas", "maxPriorityFeePerGas"),
    *("maxFeePerBlobGas", "blobVersionedHashes", "cumulativeGasUsed", "methodId", "fee"),
}
PLACED = {"blockNumber", "timestamp", "blockHash"}
RECEIVED = {"gasPrice", "gasUsed", "status", "contractAddress", "cumulativeGasUsed", "fee"}
FEES = {"burntFees", "blobFees", "blobBaseFee"}
BODY = {"txCount", "size"} | FEES
HEADER = {
    *("number", "hash", "timestamp", "miner", "gasUsed", "gasLimit", "parentHash"),
    *("baseFeePerGas", "blobGasUsed", "excessBlobGas"),
}
OF_SENDER = {"fromAddress", "contractAddress"}
# By reason: the fields of the block, of a transaction of type 0 and of one of type 3 with a blob.
REASONS: dict[str, tuple[set[str], set[str], set[str]]] = {
    OWN_HEADER: (HEADER | BODY, SENT | PLACED, SENT | PLACED),
    f"header with fields zetaRoot, {UPDATE}": (HEADER | BODY, SENT | PLACED, SENT | PLACED),
    "receipts and receiptsRoot": (FEES, RECEIVED, RECEIVED),
    BLOBS_INSIDE: (BODY, SENT, SENT),
    "transactions and transactionsRoot": (BODY, SENT, SENT),
    UNSIGNED: (set(), OF_SENDER | {"hash"}, OF_SENDER | {"hash"}),
    **dict.fromkeys(
        (SENDERS, UNSIGNED_SENDERS, ADDRESSES_AS_SIGNATURES, OTHER_SIGNERS),
        (set(), OF_SENDER, OF_SENDER),
    ),
    "senders of transactions of type 3": (set(), set(), OF_SENDER),
    "transactions of type 3": (BODY, set(), SENT),
    "value of transactions of type 3": (set(), set(), {"value"}),
    "nonce of transactions of type 3": (set(), set(), {"nonce", "contractAddress"}),
    "receipts without a fee for L1": (set(), {"fee"}, {"fee"}),
    "no transaction shows Scroll": (set(), {"fee"}, {"fee"}),
    "status and price of transactions of type 3": (set(), set(), {"status", "gasPrice", "fee"}),
    PRICES: (FEES, set(), {"fee"}),
    STATUSES: (set(), {"status", "contractAddress"}, set()),
    UNCLES: ({"size", "miningReward"}, set(), set()),
    "a state sync": (BODY, set(), set()),
    f"{SENDERS}; {PRICES}": (FEES, OF_SENDER, OF_SENDER | {"fee"}),
    "a reason that a later version wrote": (BODY, SENT, SENT),
}


def test_records_name_the_fields_that_a_reason_is_about(database_url):
    database = Database(database_url, statement_timeout_ms=0)
    stored = {"chain_id": 1, "genesis_hash": bytes(32), "start_block": 0, "stored_logs": None}
    database.rows("indexer/chain_insert", **stored)
    chain = Chain(database)
    blob = {"type": 3, "blob_versioned_hashes": (bytes(32),), "blob_gas_price": 1}
    gas = {"gas_limit": 21_000}
    chain.append([Move(ALICE, BOB, fields=gas), Move(BOB, ALICE, fields=blob)])
    database.close()

    def unproven() -> list[list[str]]:
        rows = execute(
            database_url,
            "SELECT block_record(b)::json -> 'unproven' FROM blocks b UNION ALL (SELECT"
            " transaction_record(t, b)::json -> 'unproven' FROM transactions t, blocks b"
            " ORDER BY t.ordinal)",
        )
        return [names for (names,) in rows]

    assert unproven() == [[], [], []]
    for reason, expected in REASONS.items():
        execute(database_url, "UPDATE blocks SET unproven = %s", reason)
        assert unproven() == [sorted(fields) for fields in expected], reason


def test_each_stored_column_has_a_kind(database_url):
    """No column of a table of blocks' values is without one, in any extension."""
    rows = execute(
        database_url,
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = 'public'",
    )
    for table, kinds in stored_values().items():
        assert {column for name, column in rows if name == table} == {*kinds}, table
    for table, column in SAID_WHERE:
        assert column in stored_values()[table]


def test_the_document_of_the_interface_says_what_is_said():
    own = schemas()
    said = {
        name: [
            p
            for p, s in own[name]["properties"].items()
            if "Said by the node" in s.get("description", "")
        ]
        for name in ("Block", "Transaction", "InternalTransfer", "DexTrade", "Token")
    }
    assert said["Block"] == ["size", "blobBaseFee"]
    assert said["Transaction"] == [
        "fromAddress",
        "gasPrice",
        "status",
        "nonce",
        "fee",
        "chainFields",
    ]
    assert said["DexTrade"] == [
        *("dex", "tokenIn", "tokenOut", "tokenInSymbol", "tokenInDecimals"),
        *("tokenOutSymbol", "tokenOutDecimals"),
    ]
    assert {"name", "symbol", "decimals", "type", "totalSupply"} <= {*said["Token"]}
    kinds = stored_values()["internal_transfers"]
    assert {"type", "fromAddress", "toAddress", "value"} <= {*said["InternalTransfer"]}
    assert kinds["value"] is SAID
