"""The table of values: each is proven, computed here, or reported by the node and shown as that."""

import re

from scan.ethereum import block_encoding, block_validation, transaction_checks
from scan.ethereum.fork_schedule import PRICES
from scan.extensions.block_records.uncles.block_completion import UNCLES
from scan.extensions.demo.tests.replaying import served
from scan.indexer.block_check import OWN_HEADER, PARENT, SAID_WHERE, UPDATE, stored_values
from tests.support.chain_forms.forms import FORMS
from tests.support.database import execute
from tests.support.faulty_node import changing, records_of
from tests.support.indexing import Indexing
from tests.support.made_blocks import Move, address


def test_what_is_said_of_a_rollup_is_stored_and_named(database_url):
    """In lists, details, /query and on the page; the node says another value of each field that
    nothing proves."""
    chain = FORMS["isthmus"]()
    fees = {"l1Fee": "0x7777", "operatorFeeConstant": "0x77", "l1GasUsed": "0x9"}

    def say(result):
        for record in records_of(result):
            record |= fees if "l1Fee" in record else {}
            record |= {"nonce": "0x77"} if "nonce" in record and record["type"] == "0x7e" else {}

    saying = changing(say, "eth_getBlockByNumber", "eth_getBlockReceipts")
    with served(chain, saying) as node:
        client = Indexing(database_url, node.url).run_until(chain.head).client()
        records = client.get("/api/v1/transactions?limit=100").json["transactions"]
        deposits = [record for record in records if record["type"] == 0x7E]
        others = [record for record in records if record["type"] != 0x7E]
        assert {(r["nonce"], "nonce" in r["unproven"]) for r in deposits} == {(0x77, True)}
        named = ["fee", "feeParts", "chainFields"]
        for record in others:
            assert (record["feeParts"]["l1"], record["unproven"]) == (str(0x7777), named)
            detail = client.get(f"/api/v1/transactions/{record['hash']}").json["unproven"]
            assert detail[:4] == [*named, "finality"]
        query = {"entity": "transactions", "limit": 100}
        assert client.post("/api/v1/query", json=query).json["data"] == records
        page = client.get(f"/tx/{others[0]['hash']}").text
        [reported] = re.findall(r"Reported by the node without proof: ([^.]*)", page)
        assert "fee" in reported.split(", ")


def test_records_name_the_fields_that_a_reason_is_about(database_url, database, chain):
    stored = {"chain_id": 1, "genesis_hash": bytes(32), "start_block": 0}
    stored |= {"fork_block": None, "is_development": False, "stored_logs": None}
    database.rows("indexer/chain_insert", **stored)
    blob = {"type": 3, "blob_versioned_hashes": (bytes(32),), "blob_gas_price": 1}
    alice, bob = address("Alice"), address("Bob")
    chain.append([Move(alice, bob, fields={"gas_limit": 21_000}), Move(bob, alice, fields=blob)])

    def unproven():
        rows = execute(
            database_url,
            "SELECT block_record(b)::json -> 'unproven' FROM blocks b UNION ALL (SELECT"
            " transaction_record(t, b)::json -> 'unproven' FROM transactions t, blocks b"
            " ORDER BY t.ordinal)",
        )
        return [names for (names,) in rows]

    assert unproven() == [[], [], []]
    # By reason: fields of the block, of a transaction of type 0 and of one of type 3 with a blob.
    sent = set(
        "hash fromAddress toAddress value gasPrice gasUsed status nonce type transactionIndex"
        " contractAddress gasLimit maxFeePerGas maxPriorityFeePerGas maxFeePerBlobGas"
        " blobVersionedHashes cumulativeGasUsed methodId fee".split()
    )
    placed = {"blockNumber", "timestamp", "blockHash"}
    received = {"gasPrice", "gasUsed", "status", "contractAddress", "cumulativeGasUsed", "fee"}
    fees = {"burntFees", "blobFees", "blobBaseFee"}
    body = {"txCount", "size"} | fees
    header = set(
        "number hash timestamp miner gasUsed gasLimit parentHash baseFeePerGas blobGasUsed"
        " excessBlobGas".split()
    )
    of_sender = {"fromAddress", "contractAddress"}
    reasons = {
        OWN_HEADER: (header | body, sent | placed, sent | placed),
        f"header with fields zetaRoot, {UPDATE}": (header | body, sent | placed, sent | placed),
        "receipts and receiptsRoot": (fees, received, received),
        block_encoding.BLOBS_INSIDE: (body, sent, sent),
        transaction_checks.UNSIGNED: (set(), of_sender | {"hash"}, of_sender | {"hash"}),
        transaction_checks.UNSIGNED_SENDERS: (set(), of_sender, of_sender),
        transaction_checks.ADDRESSES_AS_SIGNATURES: (set(), of_sender, of_sender),
        transaction_checks.OTHER_SIGNERS: (set(), of_sender, of_sender),
        "senders of transactions of type 3": (set(), set(), of_sender),
        "transactions of type 3": (body, set(), sent),
        "value of transactions of type 3": (set(), set(), {"value"}),
        "nonce of transactions of type 3": (set(), set(), {"nonce", "contractAddress"}),
        "receipts without a fee for L1": (set(), {"fee"}, {"fee"}),
        "no transaction shows Scroll": (set(), {"fee"}, {"fee"}),
        "status and price of transactions of type 3": (set(), set(), {"status", "gasPrice", "fee"}),
        PRICES: (fees, set(), {"fee"}),
        block_validation.STATUSES: (set(), {"status", "contractAddress"}, set()),
        UNCLES: ({"size", "miningReward"}, set(), set()),
        PARENT: ({"parentHash"}, set(), set()),
        "a state sync": (body, set(), set()),
        f"{transaction_checks.SENDERS}; {PRICES}": (fees, of_sender, of_sender | {"fee"}),
        "a reason that a later version wrote": (body, sent, sent),
    }
    for reason, expected in reasons.items():
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
