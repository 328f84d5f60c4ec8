"""Blobs by their versioned hash: what transactions of the scenario carried."""

from tests.support import expected


def test_blobs_are_listed_and_found_by_hash(client, scenario):
    of_transaction = "blockNumber transactionIndex timestamp fromAddress toAddress".split()
    blobs = [
        {
            "versionedHash": versioned_hash,
            "transactionHash": transaction["hash"],
            "blobIndex": index,
            **{name: transaction[name] for name in of_transaction},
        }
        for transaction in scenario.truth.transactions
        for index, versioned_hash in [*enumerate(transaction["blobVersionedHashes"] or ())][::-1]
    ]
    assert client.get("/api/v1/blobs").json["blobs"] == blobs != []
    for blob in blobs:
        hash_, number = blob["versionedHash"], blob["blockNumber"]
        body = client.get("/api/v1/blobs", query_string={"versionedHash": hash_}).json
        same = [other for other in blobs if other["versionedHash"] == hash_]
        assert (body["blobs"], body["total"]) == (same, len(same))
        in_block = [other for other in blobs if other["blockNumber"] == number]
        assert client.get(f"/api/v1/blocks/{number}").json["blobCount"] == len(in_block)
        record = client.get(f"/api/v1/transactions/{blob['transactionHash']}").json
        receipt = scenario.anvil.call("eth_getTransactionReceipt", blob["transactionHash"])
        names = ("blobGasUsed", "blobGasPrice")
        paid = [int(record[name]) for name in names]
        assert paid == [int(receipt[name], 16) for name in names]
        assert record["feeParts"]["blob"] == str(paid[0] * paid[1])


def test_other_forms_and_pages_are_as_expected(client, scenario):
    transactions = scenario.truth.transactions
    sent = next(t for t in transactions if t["blobVersionedHashes"])
    without = next(t for t in transactions if not t["blobVersionedHashes"])
    names = {"with blobs": sent["hash"], "blob": sent["blobVersionedHashes"][0]}
    expected.compare(__file__, client, names | {"without blobs": without["hash"]})
