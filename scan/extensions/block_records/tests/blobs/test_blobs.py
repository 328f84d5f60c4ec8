"""Blobs by their versioned hash: what transactions of the scenario carried."""

OF_TRANSACTION = "blockNumber transactionIndex timestamp fromAddress toAddress".split()


def test_blobs_are_listed_and_found_by_hash(client, scenario):
    truth = scenario.truth
    expected = [
        {
            "versionedHash": versioned_hash,
            "transactionHash": transaction["hash"],
            "blobIndex": index,
            **{name: transaction[name] for name in OF_TRANSACTION},
        }
        for transaction in truth.transactions
        for index, versioned_hash in reversed(
            [*enumerate(transaction["blobVersionedHashes"] or ())]
        )
    ]
    assert expected
    body = client.get("/api/v1/blobs").json
    assert (body["blobs"], body["total"]) == (expected, len(expected))
    for blob in expected:
        hash_, number = blob["versionedHash"], blob["blockNumber"]
        body = client.get("/api/v1/blobs", query_string={"versionedHash": hash_.upper()[2:]})
        assert body.status_code == 400
        body = client.get("/api/v1/blobs", query_string={"versionedHash": hash_}).json
        same = [other for other in expected if other["versionedHash"] == hash_]
        assert (body["blobs"], body["total"]) == (same, len(same))
        in_block = [other for other in expected if other["blockNumber"] == number]
        assert client.get(f"/api/v1/blocks/{number}").json["blobCount"] == len(in_block)
        assert hash_ in client.get(f"/block/{number}").text
    absent = client.get("/api/v1/blobs", query_string={"versionedHash": "0x01" + "00" * 31}).json
    assert (absent["blobs"], absent["total"]) == ([], 0)
    without = {t["blockNumber"] for t in truth.transactions} - {b["blockNumber"] for b in expected}
    assert "blobCount" not in client.get(f"/api/v1/blocks/{min(without)}").json


def test_a_transaction_has_its_blobs_in_blockscouts_form(client, scenario):
    for sent in carrying(scenario):
        shown = client.get(f"/api/v2/transactions/{sent['hash']}/blobs").json
        assert [blob["hash"] for blob in shown["items"]] == sent["blobVersionedHashes"]
    without = next(t for t in scenario.truth.transactions if not t["blobVersionedHashes"])
    assert client.get(f"/api/v2/transactions/{without['hash']}/blobs").json == {"items": []}


def carrying(scenario):
    """Transactions with blobs."""
    return [sent for sent in scenario.truth.transactions if sent["blobVersionedHashes"]]


def test_a_transaction_without_blobs_has_no_gas_and_price_of_them(client, scenario):
    without = [sent for sent in scenario.truth.transactions if not sent["blobVersionedHashes"]]
    for sent in without[::10]:
        record = client.get(f"/api/v1/transactions/{sent['hash']}").json
        assert {"blobGasUsed", "blobGasPrice"}.isdisjoint(record)


def test_a_transaction_has_gas_and_price_of_its_blobs(client, scenario):
    for sent in carrying(scenario):
        record = client.get(f"/api/v1/transactions/{sent['hash']}").json
        hashes = sent["blobVersionedHashes"]
        receipt = scenario.anvil.call("eth_getTransactionReceipt", sent["hash"])
        gas, price = int(record["blobGasUsed"]), int(record["blobGasPrice"])
        assert (gas, price) == (int(receipt["blobGasUsed"], 16), int(receipt["blobGasPrice"], 16))
        assert gas == 131_072 * len(hashes)
        assert record["feeParts"]["blob"] == str(gas * price)
        page = client.get(f"/tx/{sent['hash']}").text
        assert f', {gas:,} gas for <data value="{price}">' in page
        assert all(f'id="blob-{index}">{hash_}' in page for index, hash_ in enumerate(hashes))
