"""What a transaction asked for, in its record: types and numbers that the scenario lacks."""

import csv
import io
import json
from fractions import Fraction

import pytest

from scan.hex import to_hex
from scan.pages.formatting import FEE_PLACES, aligned, amount
from tests.support import indexing, made_blocks
from tests.support.database import execute
from tests.support.lists import post

BLOB_HASH = b"\\x" * 16
GREATEST = 2**256 - 1


@pytest.mark.parametrize(
    ("fields", "values", "fee"),
    [
        (
            {
                "nonce": 0,
                "gas_limit": 21_000,
                "cumulative_gas_used": 21_000,
                "type": 3,
                "max_fee_per_blob_gas": 1,
                "blob_versioned_hashes": (BLOB_HASH,),
                "blob_gas_price": 2**128,
            },
            [0, "21000", 3, None, None, "1", [to_hex(BLOB_HASH)], "21000"],
            21_000 + 131_072 * 2**128,
        ),
        ({"type": 126}, [None, None, 126, *[None] * 5], 21_000),
        (
            {
                "type": 255,
                "nonce": 2**64 - 2,
                "gas_limit": GREATEST,
                "max_fee_per_gas": 2**56,
                "max_priority_fee_per_gas": 2**56 - 1,
                "cumulative_gas_used": 2**63,
            },
            [2**64 - 2, str(GREATEST), 255, str(2**56), str(2**56 - 1), None, None, str(2**63)],
            21_000,
        ),
    ],
    ids=["blobs", "deposit", "beyond bytes of integers"],
)
def test_everything_shows_what_a_transaction_asked_for_and_its_fee(
    database, database_url, chain, fields, values, fee
):
    stored = {"chain_id": 1, "genesis_hash": bytes(32), "start_block": 0}
    stored |= {"fork_block": None, "is_development": False, "stored_logs": None}
    database.rows("indexer/chain_insert", **stored)
    somebody, other = made_blocks.address("somebody"), made_blocks.address("other")
    [transaction] = chain.append([made_blocks.Move(somebody, other, fields=fields)], base_fee=7)
    key, sender, block = to_hex(transaction), to_hex(somebody), chain.number
    client = indexing.client_over(database_url)
    record = client.get(f"/api/v1/transactions/{key}").json
    names = """nonce gasLimit type maxFeePerGas maxPriorityFeePerGas maxFeePerBlobGas
        blobVersionedHashes cumulativeGasUsed fee""".split()
    assert [record[name] for name in names] == [*values, str(fee)]
    latest = client.get("/api/v1/blocks/latest").json
    assert (record["blockHash"], latest["baseFeePerGas"]) == (latest["hash"], "7")
    filters = {"from": sender, "blockFrom": block}
    file = client.get(f"/api/v1/transactions?blockFrom={block}&format=ndjson").text
    for listed in (
        *client.get("/api/v1/transactions?limit=1").json["transactions"],
        *client.get(f"/api/v1/transactions?address={sender}&limit=1").json["transactions"],
        *post(client, "/query", entity="transactions", filter=filters)["data"],
        json.loads(file),
    ):
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
    assert execute(database_url, newest) == [(fee,)]
