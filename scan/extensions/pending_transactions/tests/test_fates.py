"""What became of a transaction that the node does not give, and of one that is replaced."""

from pathlib import Path

import pytest

from scan.extensions.pending_transactions.queries import SeenTransactions, parsed
from scan.extensions.pending_transactions.tests.sent import HASH, SENT, SIGNER, signed, with_answers
from tests.support import faulty_node, indexing
from tests.support.explorer import behind

PATH = f"/tx/{HASH}"
NODE = {
    "eth_getTransactionByHash": None,
    "eth_getTransactionCount": "0x2",
    "txpool_contentFrom": {"pending": {}, "queued": {}},
}


def answering(**changed):
    """A node that has neither the transaction nor its nonce, but for what is changed."""
    return with_answers(NODE | changed)


@pytest.fixture
def asking(indexed):
    """Asks for a path of a service whose node has a fault."""
    with behind(indexed.settings) as (client, node):

        def ask(fault, path):
            node.fault = fault
            return client.get(path)

        yield ask


SIGNED, REPLACEMENT = signed(2), signed(2, gas=21_001)
API = f"/api/v1/transactions/{SIGNED['hash']}"


@pytest.mark.parametrize(
    ("answers", "code", "fate", "words"),
    [
        ({}, 404, "dropped", "keep nonce 2"),
        ({"eth_getTransactionCount": "0x3"}, 404, "nonce used", "The node reports a <a href"),
        ({"eth_getTransactionCount": hex(2**64)}, 404, "not known", "sender&#39;s nonce"),
        ({"eth_getTransactionCount": ValueError}, 404, "not known", "sender&#39;s nonce"),
        ({"txpool_contentFrom": ValueError}, 404, "not known", "does not offer"),
        ({"txpool_contentFrom": []}, 404, "not known", "does not offer"),
        (
            {"txpool_contentFrom": {"pending": {"2": REPLACEMENT}, "queued": {}}},
            404,
            "being replaced",
            REPLACEMENT["hash"],
        ),
        ({"txpool_contentFrom": {"queued": {"2": SIGNED}}}, 404, "not known", "does not give it"),
        ({"eth_getTransactionByHash": ValueError}, 503, "not known", "with an error"),
        ({"eth_getTransactionByHash": {"hash": HASH}}, 503, "not known", "with an error"),
    ],
)
def test_only_what_the_node_denies_in_every_way_is_dropped(asking, answers, code, fate, words):
    """What was seen as pending needs no sender in the query; a link with another's sender and nonce
    does not outrank its own."""
    seen = asking(answering(eth_getTransactionByHash=SIGNED), f"{API}/pending").json
    assert (seen["state"], seen["transaction"]["unproven"]) == ("pending", ["queued"])
    answer = asking(answering(**answers), f"{API}/pending")
    assert answer.status_code == 200
    assert (answer.json["state"], answer.json["transaction"]) == (fate, None)
    assert answer.json["replacedBy"] == {"being replaced": REPLACEMENT["hash"]}.get(fate)
    assert (answer.json["reason"] is None) == (fate != "not known")
    gone = asking(answering(**answers), API)
    assert (gone.status_code, "ETag" in gone.headers) == (404, False)
    assert f"It was pending; now: {fate}" in gone.json["error"]
    path = API.replace("/api/v1/transactions", "/tx")
    for query in ("", f"?from={SENT['from']}&nonce=7"):
        page = asking(answering(**answers), path + query)
        assert (page.status_code, "ETag" in page.headers) == (code, False)
        assert f'data-state="{fate}"' in page.text and words in page.text
        assert "by this link" not in page.text and SIGNER in page.text
        assert ("Dropped" in page.text) == (fate == "dropped")


def test_what_nobody_knows_is_not_found(asking):
    """A transaction that only the node's word gave a sender is not remembered."""
    path = f"/api/v1/transactions/{HASH}/pending"
    seen = asking(answering(eth_getTransactionByHash=SENT), path).json
    assert seen["state"] == "pending" and "fromAddress" in seen["transaction"]["unproven"]
    missing = asking(answering(), path)
    assert (missing.status_code, missing.json["code"]) == (404, "not_found")
    assert asking(faulty_node.status(500), path).status_code in (502, 503)
    assert asking(answering(), path.replace(HASH, HASH[:-1])).status_code == 400
    assert asking(answering(), f"{path}?x=1").status_code == 400


def test_a_pending_record_has_the_names_of_a_mined_one(asking, scenario):
    mined = scenario.truth.transactions[0]["hash"]
    mined = asking(None, f"/api/v1/transactions/{mined}").json
    answer = asking(answering(eth_getTransactionByHash=SIGNED), API)
    assert answer.headers["Cache-Control"] == "no-store" and "ETag" not in answer.headers
    record = answer.json
    assert record.keys() - mined.keys() == {"state", "replacedBy", "missingNonce"}
    same = {"hash": SIGNED["hash"], "fromAddress": SIGNER, "value": "1", "nonce": 2, "type": 2}
    later = dict.fromkeys(("blockNumber", "gasPrice", "gasUsed", "status", "timestamp"))
    assert record.items() >= {**same, **later, "maxFeePerGas": "3", "state": "pending"}.items()
    assert not {"hash", "value", "nonce", "fromAddress"} & {*record["unproven"]}
    other = asking(answering(eth_getTransactionByHash=SENT), f"/api/v1/transactions/{HASH}").json
    assert {"hash", "value", "nonce", "fromAddress"} < {*other["unproven"]}


def test_what_is_indexed_is_not_asked_of_the_node(indexed, scenario):
    with behind(indexed.settings) as (client, node):
        before = node.requests
        indexed_hash = scenario.truth.transactions[0]["hash"]
        known = client.get(f"/api/v1/transactions/{indexed_hash}/pending").json
        assert node.requests == before
    nulls = {"transaction": None, "replacedBy": None, "missingNonce": None}
    unproven = ["state", "replacedBy", "missingNonce"]
    assert known == {"state": "mined", **nulls, "reason": "It is indexed.", "unproven": unproven}


def test_the_newest_seen_are_remembered():
    seen = SeenTransactions()
    sent = parsed(SIGNED)
    for number in range(20_000):
        seen.note(sent._replace(hash=number.to_bytes(32), nonce=number))
    kept = [n for n in range(20_000) if seen.get(n.to_bytes(32)) is not None]
    assert kept == [*range(10_000, 20_000)]


def test_a_node_that_is_away_drops_nothing(indexed):
    by_nonce = f"{PATH}?from={SENT['from']}&nonce=2"
    page = indexing.client_over(indexed.url).get(by_nonce)
    assert page.status_code == 503 and "The node does not respond" in page.text
    assert 'data-state="not known"' in page.text and "Dropped" not in page.text


BEFORE_IT = "3 transactions must be mined before it"


@pytest.mark.parametrize(
    ("pool", "state", "missing", "words"),
    [
        (("0x1", "0x2"), "queued", 3, "before a transaction with nonce 3,"),
        (("0x2", "0x3", "0x4"), "pending", None, BEFORE_IT),
        (("0x2", "0x4"), "queued", 3, "before a transaction with nonce 3,"),
        (("0x5",), "queued", 2, "before a transaction with nonce 2,"),
        (None, "pending", None, BEFORE_IT),
    ],
)
def test_a_nonce_that_the_pool_does_not_have_is_named(asking, pool, state, missing, words):
    own = {**SENT, "nonce": "0x5"}
    content = {"pending": {n: {**SENT, "nonce": n} for n in pool or ()}, "queued": {"5": own}}
    answers = {"txpool_contentFrom": ValueError if pool is None else content}
    fault = answering(eth_getTransactionByHash=own, **answers)
    page = asking(fault, PATH)
    assert page.status_code == 200 and words in page.text
    assert f'data-state="{state}"' in page.text and f">{state}</span>" in page.text
    known = asking(fault, f"/api/v1/transactions/{HASH}/pending").json
    assert (known["state"], known["transaction"]["queued"]) == (state, state == "queued")
    assert known["missingNonce"] == missing


def test_a_transaction_of_the_node_is_mined_or_its_nonce_used(asking):
    """A block of the node that the index has not, or one with its nonce before it."""
    path = f"/api/v1/transactions/{HASH}/pending"
    mined = {**SENT, "blockNumber": "0xffffff"}
    known = asking(answering(eth_getTransactionByHash=mined), path).json
    assert known["state"] == "mined" and "block 16777215." in known["reason"]
    later = answering(eth_getTransactionByHash=SENT, eth_getTransactionCount="0x3")
    assert asking(later, path).json["state"] == "nonce used"
    page = asking(later, PATH)
    assert 'data-state="nonce used"' in page.text and "Waiting to be" not in page.text
    assert "Speed up" not in page.text


FEES = {"maxFeePerGas": hex(8 * 10**10), "maxPriorityFeePerGas": hex(10**9)}


@pytest.mark.thorough
def test_the_open_page_tells_what_became_of_it_and_the_wallet_cancels_it(
    sending, page, explorer, explorer_url
):
    sender, receiver = (account.lower() for account in sending.accounts[1:3])
    nonce = sending.call("eth_getTransactionCount", sender, "latest")
    first = sending.send(sender, receiver, value="0x1", nonce=nonce, data="0x1234", **FEES)
    wallet = Path(__file__).with_name("fates_wallet.js").read_text()
    page.before_scripts(wallet.replace("CHAIN", sending.call("eth_chainId")))
    page.open(f"{explorer_url}/tx/{first}")
    assert f"nonce={int(nonce, 16)}" in page.evaluate("location.search")  # for a reload
    page.evaluate(f"window.ACCOUNT = '{receiver}'; document.querySelector('details').open = true")
    speed, cancel = "#replace button", "#replace button:last-of-type"
    page.wait(f"!document.querySelector('{cancel}').disabled")
    page.click(cancel)
    page.wait("document.querySelector('#replace output').textContent.includes('only')")
    assert page.evaluate("asked.length") == 0  # of another account
    page.evaluate(f"window.ACCOUNT = '{sender}'")
    page.click(speed)
    page.wait("asked.length")
    same = page.evaluate("asked.pop().params[0]")
    expected = (receiver, "0x1234", "0x1", nonce)
    assert (same["to"], same["data"], same["value"], same["nonce"]) == expected
    assert int(same["maxFeePerGas"], 16) == 9 * 10**10
    page.open(f"{explorer_url}/tx/{first}")
    page.evaluate(f"window.ACCOUNT = '{sender}'; document.querySelector('details').open = true")
    page.wait(f"!document.querySelector('{cancel}').disabled")
    page.click(cancel)
    page.wait("asked.length")
    cancelling = page.evaluate("asked[0].params[0]")
    assert (cancelling["to"], cancelling["from"], cancelling["value"]) == (sender, sender, "0x0")
    second = sending.call("eth_sendTransaction", {**cancelling, "gas": hex(21_000)})
    page.evaluate(f"asked.shift().resolve('{second}')")
    page.wait("document.body?.innerText.includes('Being replaced')")
    assert page.evaluate(f"Boolean(document.querySelector('main a[href=\"/tx/{second}\"]'))")
    assert not page.evaluate("document.body.innerText.includes('Dropped')")
    sending.mine()
    explorer.wait_for_block(sending.head())
    page.wait("document.body?.innerText.includes('Replaced')")
    assert page.evaluate(f"Boolean(document.querySelector('main a[href=\"/tx/{second}\"]'))")
    page.evaluate("location.reload()")
    page.wait("document.body?.innerText.includes('Replaced')")
    assert page.errors == []


def test_a_transaction_that_its_hash_or_signature_contradicts_is_not_shown(sending, explorer):
    """With a type that is not Ethereum's a node may lie, which the page says: a wallet is given
    nothing of it but what cancels it."""
    sender, receiver = (account.lower() for account in sending.accounts[1:3])
    sent = sending.send(sender, receiver, value="0x3", **FEES)
    assert "Speed up (12.5" in explorer.get(f"/tx/{sent}")

    lie = faulty_node.replacing("eth_getTransactionByHash", lambda sent: sent | changed)
    with behind(explorer.settings, lie) as (client, _):
        for name, value in {
            "to": "0x" + "66" * 20,
            "from": receiver,
            "value": "0x4",
            "nonce": "0xffff",
            "gas": "0x5209",
            "input": "0x99",
            "type": "0x4",
            "maxFeePerGas": "0x1",
            "maxPriorityFeePerGas": None,
            "r": None,
            "s": "0x1",
            "chainId": "0x1",
        }.items():
            changed = {name: value}
            assert client.get(f"/tx/{sent}").status_code == 404, name
        changed = {"gasPrice": "0x1"}  # of no transaction with fees
        assert client.get(f"/tx/{sent}").text == explorer.get(f"/tx/{sent}")
        changed = {"to": "0x" + "66" * 20, "type": "0x66"}
        shown = client.get(f"/tx/{sent}").text
        assert "Speed up (12.5" not in shown and ">Cancel (12.5" in shown
        assert f'{{"to": "{sender}", "data": "0x"'.replace('"', "&#34;") in shown
        assert "All of it is reported by the node" in shown
