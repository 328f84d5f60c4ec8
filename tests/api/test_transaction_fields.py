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
BLOB_HASH = b"\\x" * 16
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


NAMES = """
    nonce gasLimit type maxFeePerGas maxPriorityFeePerGas maxFeePerBlobGas blobVersionedHashes
    cumulativeGasUsed
""".split()


@pytest.mark.parametrize(
    ("fields", "values", "fee"),
    [
        (
            {
                **{"nonce": 0, "gas_limit": 21_000, "cumulative_gas_used": 21_000},
                "type": 3,
                **{
                    "max_fee_per_blob_gas": 1,
                    "blob_versioned_hashes": (BLOB_HASH,),
                    "blob_gas_price": 2**128,
                },
            },
            [0, "21000", 3, None, None, "1", [to_hex(BLOB_HASH)], "21000"],
            21_000 + 131_072 * 2**128,
        ),
        ({"type": 126}, [None, None, 126, *[None] * 5], 21_000),
        (
            {
                "type": 255,
                **{
                    "nonce": 2**64 - 2,
                    "gas_limit": GREATEST,
                    "max_fee_per_gas": 2**56,
                    "max_priority_fee_per_gas": 2**56 - 1,
                    "cumulative_gas_used": 2**63,
                },
            },
            [2**64 - 2, str(GREATEST), 255, str(2**56), str(2**56 - 1), None, None, str(2**63)],
            21_000,
        ),
    ],
    ids=["blobs", "deposit", "beyond bytes of integers"],
)
def test_everything_shows_what_a_transaction_asked_for_and_its_fee(
    chain, url, client, fields, values, fee
):
    [transaction] = chain.append([made_blocks.Move(SOMEBODY, OTHER, fields=fields)], base_fee=7)
    key, sender, block = to_hex(transaction), to_hex(SOMEBODY), chain.number
    record = client.get(f"/api/v1/transactions/{key}").json
    assert [record[name] for name in (*NAMES, "fee")] == [*values, str(fee)]
    latest = client.get("/api/v1/blocks/latest").json
    assert (record["blockHash"], latest["baseFeePerGas"]) == (latest["hash"], "7")
    for listed in listings(client, chain):
        assert {*listed.pop("unproven")} <= {*record["unproven"]}
        assert listed == {name: record[name] for name in listed}
    text = client.get(f"/api/v1/transactions?address={sender}&blockFrom={block}&format=csv").text
    [row] = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    assert (row["fee_wei"], Fraction(row["fee"]) * 10**18) == (f"{fee} wei", fee)
    path = f"/api/v1/addresses/{sender}/history?types=fee&limit=1"
    assert [entry["amount"] for entry in client.get(path).json["history"]] == [str(fee)]
    assert f'<data value="{fee}">{amount(fee)} ' in client.get(f"/tx/{key}").text
    assert aligned(fee, most=FEE_PLACES).fraction in client.get("/txs").text
    newest = "SELECT fee_coin * 1e18 FROM v1.transactions ORDER BY block_number DESC LIMIT 1"
    assert execute(url, newest) == [(fee,)]
