"""What became of a transaction that the node does not give, by what the node denies."""

import pytest
from werkzeug.serving import make_server

from app import create_app
from scan.extensions.transaction_details.tests.pending_transactions.sent import HASH, SENT
from tests.support.faulty_node import FaultyNode, altering, refuse, status
from tests.support.indexing import settings_for
from tests.support.serving import in_thread

PATH = f"/tx/{HASH}"
BY_NONCE = f"{PATH}?from={SENT['from']}&nonce=2"
FETCHED_503 = (
    "performance.getEntriesByType('resource').some((entry) => entry.responseStatus === 503)"
)
OTHER = "0x" + "13" * 32
NODE = {
    "eth_getTransactionByHash": None,
    "eth_getTransactionCount": "0x2",
    "txpool_contentFrom": {"pending": {}, "queued": {}},
}


def pool_of(*hashes):
    return {"pending": {str(n): {**SENT, "hash": h} for n, h in enumerate(hashes)}, "queued": {}}


def answering(**changed):
    """A node that has neither the transaction nor its nonce; an error where an answer is one."""

    def alter(call, answer):
        answers = NODE | changed
        if call["method"].startswith("txpool") and call["method"] not in answers:
            answers[call["method"]] = ValueError
        if call["method"] in answers:
            answer.pop("error", None)
            answer["result"] = answers[call["method"]]
            if answer["result"] is ValueError:
                answer["error"] = {"code": -32601, "message": "method not found"}
                del answer["result"]

    return altering(alter)


@pytest.fixture
def asking(indexed, scenario):
    """Asks for a path of a service whose node has a fault."""
    with FaultyNode(scenario.anvil.url) as node:
        client = create_app(settings_for(indexed.settings.database_url, node.url)).test_client()

        def ask(fault, path):
            node.fault = fault
            return client.get(path)

        yield ask


@pytest.mark.parametrize(
    ("answers", "code", "fate", "words"),
    [
        ({}, 404, "dropped", "keep nonce 2"),
        ({"eth_getTransactionCount": "0x3"}, 404, "nonce used", "The node reports a <a href"),
        ({"eth_getTransactionCount": ValueError}, 404, "not known", "sender&#39;s nonce"),
        ({"eth_getTransactionCount": "2"}, 404, "not known", "sender&#39;s nonce"),
        ({"txpool_contentFrom": ValueError}, 404, "not known", "does not offer"),
        ({"txpool_contentFrom": []}, 404, "not known", "does not offer"),
        ({"txpool_contentFrom": pool_of(OTHER)}, 404, "being replaced", f'href="/tx/{OTHER}"'),
        ({"txpool_contentFrom": pool_of(HASH)}, 404, "not known", "does not give it"),
        ({"eth_getTransactionByHash": ValueError}, 503, "not known", "with an error"),
        ({"eth_getTransactionByHash": {"hash": HASH}}, 503, "not known", "with an error"),
        ({"eth_getTransactionByHash": []}, 503, "not known", "with an error"),
    ],
)
def test_only_what_the_node_denies_in_every_way_is_dropped(asking, answers, code, fate, words):
    page = asking(answering(**answers), BY_NONCE)
    assert (page.status_code, "ETag" in page.headers) == (code, False)
    assert f'id="pending" data-state="{fate}"' in page.text and words in page.text
    expected = fate in ("dropped", "not known")
    assert "sent again" in page.text or "send it again" in page.text == expected
    assert ("Dropped" in page.text) == (fate == "dropped")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (status(500), "The node does not respond"),
        (refuse(lambda _: True), "The node answered a request for this transaction with an error"),
        (answering(eth_getTransactionByHash="0x"), "The node answered a request"),
        (answering(), ""),
    ],
)
def test_a_hash_that_is_not_found_says_what_failed(asking, fault, words):
    page = asking(fault, PATH)
    assert page.status_code == 404 and words in page.text
    assert ("Whether one is pending is not known" in page.text) == bool(words)


def test_a_node_that_is_away_drops_nothing(client, indexed):
    settings = settings_for(indexed.settings.database_url, "http://127.0.0.1:9")
    page = create_app(settings).test_client().get(BY_NONCE)
    assert page.status_code == 503 and "The node does not respond" in page.text
    assert 'data-state="not known"' in page.text and "Dropped" not in page.text


@pytest.mark.parametrize(
    ("pool", "state", "words"),
    [
        (("0x1", "0x2"), "queued", "before a transaction with nonce 3,"),
        (("0x2", "0x3", "0x4"), "pending", "3 transactions must be mined before it"),
        (("0x2", "0x4"), "queued", "before a transaction with nonce 3,"),
        (("0x5",), "queued", "before a transaction with nonce 2,"),
        (None, "pending", "3 transactions must be mined before it"),
    ],
)
def test_a_nonce_that_the_pool_does_not_have_is_named(asking, pool, state, words):
    own = {**SENT, "nonce": "0x5"}
    content = {"pending": {n: {**SENT, "nonce": n} for n in pool or ()}, "queued": {"5": own}}
    answers = {"txpool_contentFrom": ValueError if pool is None else content}
    page = asking(answering(eth_getTransactionByHash=own, **answers), PATH)
    assert page.status_code == 200 and words in page.text
    assert f'data-state="{state}"' in page.text and f">{state}</span>" in page.text


def test_an_open_page_outlasts_a_node_that_fails(explorer, page):
    """It says nothing of the transaction that the node did not say, and shows that it is mined."""
    anvil = explorer.anvil
    sender, receiver = anvil.accounts[5:7]
    anvil.call("evm_setAutomine", False)
    try:
        sent = anvil.send(sender, receiver, value="0x1")
        with FaultyNode(anvil.url) as node:
            app = create_app(settings_for(explorer.settings.database_url, node.url))
            with in_thread(make_server("127.0.0.1", 0, app, threaded=True)) as url:
                page.open(f"{url}/tx/{sent}")
                node.fault = status(500)
                page.wait(FETCHED_503)
                assert "Waiting to be included" in page.text("main")
                node.fault = answering(eth_getTransactionCount="0x0")
                page.wait("document.body?.innerText.includes('Dropped')")
                node.fault = None
                page.wait("document.body?.innerText.includes('Waiting to be included')")
                anvil.mine()
                explorer.wait_for_block(anvil.head())
                page.wait("document.body?.innerText.includes('success')")
    finally:
        anvil.call("evm_setAutomine", True)
