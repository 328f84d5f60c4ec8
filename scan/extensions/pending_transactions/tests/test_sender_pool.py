"""What the node's pool has of a sender: the list, the tab and Blockscout's action."""

from scan.extensions.pending_transactions.tests.sent import HASH, SENT, SIGNER, signed, with_answers
from tests.support.explorer import behind
from tests.support.indexing import client_over

SENDER = SENT["from"]
PATH = f"/api/v1/addresses/{SENDER}/pending-transactions"
TAB = f"/address/{SENDER}?tab=pending"


def of_nonces(first, last, **changed):
    """The JSON of transactions, each with a hash of its own."""
    return {
        str(nonce): {**SENT, "nonce": hex(nonce), "hash": f"0x{nonce:064x}", **changed}
        for nonce in range(first, last)
    }


def test_a_sender_has_its_pending_transactions(sending, explorer):
    anvil, client = sending, explorer.client
    sender, receiver = (account.lower() for account in anvil.accounts[8:10])
    path = f"/api/v1/addresses/{sender.upper().replace('X', 'x')}/pending-transactions"
    nonce = int(anvil.call("eth_getTransactionCount", sender, "latest"), 16)
    assert client.get(path).json == {
        "pendingTransactions": [],
        "total": 0,
        "reason": None,
        "unproven": ["pendingTransactions", "total"],
    }
    hashes = [
        anvil.send(sender, receiver, value="0x7", nonce=hex(number), gas=hex(21_000))
        for number in (nonce, nonce + 5)
    ]
    listed, other = (
        client.get(path).json,
        client.get(path.replace(sender[2:].upper(), "0" * 40)).json,
    )
    page = client.get(f"/address/{sender}?tab=pending")
    for sent in hashes:
        anvil.call("anvil_dropTransaction", sent)
    rows = listed["pendingTransactions"]
    assert listed["total"] == 2 and listed["reason"] is None
    assert [row["hash"] for row in rows] == hashes
    assert [(row["nonce"], row["queued"]) for row in rows] == [(nonce, False), (nonce + 5, True)]
    assert (rows[0]["fromAddress"], rows[0]["toAddress"]) == (sender, receiver)
    assert (rows[0]["value"], rows[0]["gasLimit"]) == ("7", "21000")
    assert (other["pendingTransactions"], other["total"]) == ([], 0)
    assert "ETag" not in page.headers and page.status_code == 200
    assert all(f'id="tx-{sent[2:]}"' in page.text for sent in hashes)
    assert page.text.count(">queued<") == 1
    assert '?tab=pending" aria-current="page">Pending<' in page.text


def test_what_is_not_known_is_said(indexed):
    """A pool of 100,000 is not asked for; one that is larger than the node said is not read."""
    large = {"pending": {"0x" + "cd" * 20: of_nonces(0, 20_000)}, "queued": {}}
    small = {"pending": "0x1", "queued": "0x0"}
    cases = [
        ({}, "does not offer"),
        (
            {"txpool_status": {"pending": hex(100_000), "queued": "0x0"}, "txpool_content": large},
            "not searched",
        ),
        ({"txpool_status": {"pending": "0x7d0", "queued": "0x1"}}, "above 2,000 transactions"),
        ({"txpool_status": small, "txpool_content": large}, "too large"),
        ({"txpool_status": small}, "does not offer"),
        ({"txpool_status": {"pending": "many"}}, "does not offer"),
        ({"txpool_status": []}, "does not offer"),
        ({"txpool_status": small, "txpool_content": []}, "does not offer"),
        ({"txpool_contentFrom": []}, "does not offer"),
        ({"txpool_contentFrom": {"pending": of_nonces(0, 10_000)}}, "too large"),
    ]
    with behind(indexed.settings) as (client, node):
        for answers, words in cases:
            node.fault = with_answers(answers)
            listed = client.get(PATH).json
            assert listed["total"] is None and listed["pendingTransactions"] == [], answers
            assert words in listed["reason"], answers
            page = client.get(TAB)
            assert page.status_code == 200 and words in page.text, answers


def test_only_what_is_well_formed_and_the_senders_is_listed(indexed):
    other = "0x" + "cd" * 20
    named = {SENDER.replace("ab", "AB"): of_nonces(4, 6), other: of_nonces(9, 10)}
    content = {"pending": named, "queued": {SENDER: {**of_nonces(8, 9), "x": 1}}}
    cases = [
        (
            {"txpool_contentFrom": {"pending": of_nonces(2, 4), "queued": of_nonces(7, 8)}},
            [2, 3, 7],
        ),
        ({"txpool_contentFrom": {"pending": of_nonces(2, 4, **{"from": other})}}, []),
        ({"txpool_contentFrom": {"pending": of_nonces(2, 4, to="<b>")}}, []),
        ({"txpool_contentFrom": {"pending": [], "queued": None}}, []),
        (
            {"txpool_status": {"pending": "0x7d0", "queued": "0x0"}, "txpool_content": content},
            [4, 5, 8],
        ),
        (
            {
                "txpool_status": {"pending": "0x1", "queued": "0x0"},
                "txpool_content": {"pending": [1]},
            },
            [],
        ),
    ]
    with behind(indexed.settings) as (client, node):
        for answers, nonces in cases:
            node.fault = with_answers(answers)
            rows = client.get(PATH).json["pendingTransactions"]
            assert [row["nonce"] for row in rows] == nonces, answers
        node.fault = with_answers({"txpool_contentFrom": {"pending": of_nonces(0, 300)}})
        listed = client.get(PATH).json
        assert (len(listed["pendingTransactions"]), listed["total"]) == (100, 300)
        assert "The first 100 are shown" in client.get(TAB).text


def test_a_node_that_is_away_is_said(indexed):
    page = client_over(indexed.url).get(TAB)
    assert page.status_code == 200 and "are not available. The node does not respond" in page.text


def test_the_nodes_pool_of_a_sender_in_blockscouts_form(client, indexed):
    """Neither a malformed transaction nor another sender's is shown, nor what no hash proves."""
    query = f"/api?module=account&action=pendingtxlist&address={SIGNER}"
    assert client.get(query).json["result"] == []
    content = {
        "pending": {"9": signed(9), "2": signed(2), "3": {**signed(3), "to": "<b>"}},
        "queued": {
            "4": signed(4),
            "5": {**signed(5), "from": "0x" + "cd" * 20},
            "6": {**SENT, "from": SIGNER},
        },
    }
    with behind(indexed.settings) as (asking, node):
        node.fault = with_answers({})
        refused = asking.get(query).json
        assert refused["status"] == "0" and "does not offer" in refused["result"]
        node.fault = with_answers({"txpool_contentFrom": content})
        body = asking.get(query).json
        assert [row["nonce"] for row in body["result"]] == ["2", "4", "9"]
        assert body["result"][0]["hash"] == signed(2)["hash"]
        assert [r["nonce"] for r in asking.get(f"{query}&page=2&offset=1").json["result"]] == ["4"]
        for answer in ([], None, {"pending": []}, {"pending": {"1": 1}}):
            node.fault = with_answers({"txpool_contentFrom": answer})
            body = asking.get(query).json
            assert body["status"] == "0", answer


def test_no_value_of_a_pool_is_believed_that_its_hash_or_signature_contradicts(indexed):
    """Of a type that is not Ethereum's the record says that nothing proves it."""
    path = PATH.replace(SENDER, SIGNER)
    lies = {name: f"0x{int(value, 16) ^ 1:x}" for name, value in signed(2).items() if value}
    lies |= {"from": SENDER, "input": "0xa9059cba", "to": SENDER, "hash": HASH}
    with behind(indexed.settings) as (client, node):

        def listed(**changed):
            content = {"pending": {"2": {**signed(2), **changed}}}
            node.fault = with_answers({"txpool_contentFrom": content})
            return list(client.get(path).json["pendingTransactions"])

        [true] = listed()
        assert true["unproven"] == ["queued"]
        del lies["v"]  # says what yParity says
        for name, value in lies.items():
            assert listed(**{name: value}) == [], name
        assert listed(gasPrice="0x1", maxFeePerBlobGas="0x1") == [true]
        [foreign] = listed(type="0x66", to=SENDER)
        assert {*foreign["unproven"]} == {*foreign} - {"unproven"}
        assert (
            "without proof: pending transactions"
            in client.get(f"/address/{SIGNER}?tab=pending").text
        )
