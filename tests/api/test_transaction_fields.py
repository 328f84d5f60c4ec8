"""What a transaction asked for, in its record: types and numbers that the scenario lacks."""

import csv
import io
import json
from fractions import Fraction

import pytest

from scan.database.connection import Database
from scan.hex import to_hex
from scan.pages.formatting import FEE_PLACES, aligned, amount
from tests.support import indexing, made_blocks
from tests.support.database import execute

SOMEBODY, OTHER = made_blocks.address("somebody"), made_blocks.address("other")
LEGACY = {"nonce": 0, "gas_limit": 21_000, "cumulative_gas_used": 21_000}
BLOBS = (bytes([1]) * 32, b"\\x" * 16)
GREATEST = 2**256 - 1


@pytest.fixture(scope="module")
def url(postgres, template):
    with postgres.cloned(template) as url:
        yield url


@pytest.fixture(scope="module")
def chain(url):
    """Its last block has the transaction that a test is about."""
    database = Database(url, statement_timeout_ms=0)
    stored = {"chain_id": 1, "genesis_hash": bytes(32), "start_block": 0}
    stored |= {"fork_block": None, "is_development": False, "stored_logs": None}
    database.rows("indexer/chain_insert", **stored)
    yield made_blocks.Chain(database)
    database.close()


@pytest.fixture
def client(url):
    return indexing.client_over(url)


def listings(client, chain):
    """The newest transaction wherever it is shown."""
    block, sender = chain.number, to_hex(SOMEBODY)
    body = {"entity": "transactions", "filter": {"from": sender, "blockFrom": block}}
    file = client.get(f"/api/v1/transactions?blockFrom={block}&format=ndjson").text
    return [
        *client.get("/api/v1/transactions?limit=1").json["transactions"],
        *client.get(f"/api/v1/transactions?address={sender}&limit=1").json["transactions"],
        *client.post("/api/v1/query", json=body).json["data"],
        json.loads(file),
    ]


CASES = {
    "blobs": (
        {**LEGACY, "type": 3, "max_fee_per_blob_gas": 1, "blob_versioned_hashes": BLOBS},
        (0, "21000", 3, None, None, "1", [to_hex(blob) for blob in BLOBS], "21000", None),
    ),
    "no blobs": (
        {**LEGACY, "type": 3, "blob_versioned_hashes": ()},
        (0, "21000", 3, None, None, None, [], "21000", None),
    ),
    "deposit": ({"type": 126}, (None, None, 126, None, None, None, None, None, None)),
    "beyond bytes of integers": (
        {
            "type": 255,
            "nonce": 2**64 - 2,
            "gas_limit": GREATEST,
            "max_fee_per_gas": 2**56,
            "max_priority_fee_per_gas": 2**56 - 1,
            "cumulative_gas_used": 2**63,
        },
        (2**64 - 2, str(GREATEST), 255, str(2**56), str(2**56 - 1), None, None, str(2**63), None),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_transaction_asked_for(chain, client, case):
    fields, expected = CASES[case]
    [transaction] = chain.append([made_blocks.Move(SOMEBODY, OTHER, fields=fields)], base_fee=7)
    record = client.get(f"/api/v1/transactions/{to_hex(transaction)}").json
    names = tuple(
        "nonce gasLimit type maxFeePerGas maxPriorityFeePerGas maxFeePerBlobGas"
        " blobVersionedHashes cumulativeGasUsed methodId".split()
    )
    assert tuple(record[name] for name in names) == expected
    block = client.get("/api/v1/blocks/latest").json
    assert (record["blockHash"], block["baseFeePerGas"]) == (block["hash"], "7")
    for listed in listings(client, chain):
        unproven = {*listed.pop("unproven")}
        assert unproven <= {*record["unproven"]}
        assert listed == {name: record[name] for name in listed}


FEES = {
    "blobs": (
        {**LEGACY, "type": 3, "blob_versioned_hashes": BLOBS, "blob_gas_price": 5},
        21_000 + 2 * 131_072 * 5,
    ),
    "most": (
        {**LEGACY, "type": 3, "blob_versioned_hashes": BLOBS[:1], "blob_gas_price": 2**128},
        21_000 + 131_072 * 2**128,
    ),
}


@pytest.mark.parametrize("case", FEES)
def test_everything_shows_the_same_fee(chain, url, client, case):
    fields, fee = FEES[case]
    [transaction] = chain.append([made_blocks.Move(SOMEBODY, OTHER, fields=fields)], base_fee=1)
    key, sender, block = to_hex(transaction), to_hex(SOMEBODY), chain.number
    records = [client.get(f"/api/v1/transactions/{key}").json, *listings(client, chain)]
    assert [record["fee"] for record in records] == [str(fee)] * len(records)
    text = client.get(f"/api/v1/transactions?address={sender}&blockFrom={block}&format=csv").text
    [row] = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    assert row["fee_wei"] == f"{fee} wei"
    assert Fraction(row["fee"]) * 10**18 == fee
    path = f"/api/v1/addresses/{sender}/history?types=fee&limit=1"
    assert [entry["amount"] for entry in client.get(path).json["history"]] == [str(fee)]
    assert f'<data value="{fee}">{amount(fee)} ' in client.get(f"/tx/{key}").text
    assert aligned(fee, most=FEE_PLACES).fraction in client.get("/txs").text
    newest = "SELECT fee_coin * 1e18 FROM v1.transactions ORDER BY block_number DESC LIMIT 1"
    assert execute(url, newest) == [(fee,)]
