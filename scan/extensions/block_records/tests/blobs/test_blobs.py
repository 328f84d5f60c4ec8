"""Blobs by their versioned hash: what transactions of the scenario carried."""


def test_blobs_are_listed_and_found_by_hash(client, scenario):
    of_transaction = "blockNumber transactionIndex timestamp fromAddress toAddress".split()
    truth = scenario.truth
    expected = [
        {
            "versionedHash": versioned_hash,
            "transactionHash": transaction["hash"],
            "blobIndex": index,
            **{name: transaction[name] for name in of_transaction},
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
    transactions = [sent for sent in scenario.truth.transactions if sent["blobVersionedHashes"]]
    assert transactions
    return transactions


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
        assert all(
            f'href="/blob/{hash_}" id="blob-{index}">{hash_}' in page
            for index, hash_ in enumerate(hashes)
        )


def test_a_blob_has_a_page_with_the_transactions_that_carried_it(client, scenario):
    for sent in carrying(scenario):
        for hash_ in sent["blobVersionedHashes"]:
            page = client.get(f"/blob/{hash_}")
            assert page.status_code == 200
            assert hash_ in page.text and f"/tx/{sent['hash']}" in page.text
            assert f"/block/{sent['blockNumber']}" in page.text and "131,072 bytes" in page.text
            assert f'href="/blob/{hash_}"' in client.get("/blobs").text
            assert f'href="/blob/{hash_}"' in client.get(f"/block/{sent['blockNumber']}").text
            assert client.get(f"/blob/{hash_.upper().replace('X', 'x')}").status_code == 200
            filtered = client.get(f"/blob/{hash_}?blockFrom={sent['blockNumber'] + 10**6}")
            assert filtered.status_code == 200


def test_a_blob_that_nobody_carried_is_not_found(client):
    assert client.get(f"/blob/0x01{'00' * 31}").status_code == 404
    wrong = client.get("/blob/<script>alert(1)</script>")
    assert wrong.status_code in (400, 404) and "<script>alert" not in wrong.text


def test_lists_of_a_block_s_records_have_pages(client):
    for path in ("/blobs", "/execution-requests", "/messages-to-l1"):
        page = client.get(path)
        assert page.status_code == 200 and f'href="/api/v1{path}' in page.text
        assert client.get(f"{path}?no=1").status_code == 400
