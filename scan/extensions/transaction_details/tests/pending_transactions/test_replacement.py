"""A pending transaction's open page, and its replacement by the sender's wallet, in a browser."""

import pytest

from app import create_app
from tests.support.faulty_node import FaultyNode, altering
from tests.support.indexing import settings_for

WALLET = """
window.asked = [];
window.ethereum = {request: ({method, params}) => {
  if (method === "eth_requestAccounts") return Promise.resolve([window.ACCOUNT]);
  if (method === "eth_chainId") return Promise.resolve("CHAIN");
  return new Promise((resolve) => window.asked.push({params, resolve}));
}};
"""
FEES = {"maxFeePerGas": hex(8 * 10**10), "maxPriorityFeePerGas": hex(10**9)}


@pytest.fixture
def sending(explorer):
    explorer.anvil.call("evm_setAutomine", False)
    yield explorer.anvil
    explorer.anvil.call("evm_setAutomine", True)
    explorer.anvil.mine()


def test_the_open_page_tells_what_became_of_it_and_the_wallet_cancels_it(
    sending, page, explorer, explorer_url
):
    sender, receiver = (account.lower() for account in sending.accounts[1:3])
    nonce = sending.call("eth_getTransactionCount", sender, "latest")
    first = sending.send(sender, receiver, value="0x1", nonce=nonce, data="0x1234", **FEES)
    page.before_scripts(WALLET.replace("CHAIN", sending.call("eth_chainId")))
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


def test_the_open_page_becomes_that_of_the_mined_transaction(sending, page, explorer, explorer_url):
    sender, receiver = sending.accounts[1:3]
    sent = sending.send(sender, receiver, value="0x3", **FEES)
    page.open(f"{explorer_url}/tx/{sent}")
    sending.mine()
    explorer.wait_for_block(sending.head())
    page.wait("document.body?.innerText.includes('success')")
    assert page.evaluate("location.search") == ""


def test_a_transaction_that_its_hash_or_signature_contradicts_is_not_shown(sending, explorer):
    """With a type that is not Ethereum's a node may lie, which the page says: a wallet is given
    nothing of it but what cancels it."""
    sender, receiver = (account.lower() for account in sending.accounts[1:3])
    sent = sending.send(sender, receiver, value="0x3", **FEES)
    assert "Speed up (12.5" in explorer.client.get(f"/tx/{sent}").text

    def lie(call, answer):
        if call["method"] == "eth_getTransactionByHash":
            answer["result"] = {**answer["result"], **changed}

    with FaultyNode(sending.url) as node:
        client = create_app(settings_for(explorer.settings.database_url, node.url)).test_client()
        node.fault = altering(lie)
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
        assert client.get(f"/tx/{sent}").text == explorer.client.get(f"/tx/{sent}").text
        changed = {"to": "0x" + "66" * 20, "type": "0x66"}
        shown = client.get(f"/tx/{sent}").text
        assert "Speed up (12.5" not in shown and ">Cancel (12.5" in shown
        assert f'{{"to": "{sender}", "data": "0x"'.replace('"', "&#34;") in shown
        assert "All of it is reported by the node" in shown
