"""The page of a transaction that waits for its block, as the node has it."""

import html
import json
import re

from scan.extensions.pending_transactions.tests.sent import HASH, SENT
from tests.support import serving
from tests.support.explorer import behind
from tests.support.faulty_node import every_result


def test_a_transaction_is_pending_until_it_is_mined(sending, explorer):
    anvil, client = sending, explorer.client
    sender, receiver = anvil.accounts[3:5]
    next_nonce = int(anvil.call("eth_getTransactionCount", sender, "latest"), 16)
    transfer = "0xa9059cbb" + receiver[2:].rjust(64, "0") + f"{12345678:064x}"
    first = anvil.send(sender, receiver, value=hex(10**15), gas=hex(21_000))
    second = anvil.send(sender, receiver, data=transfer, nonce=hex(next_nonce + 1), gas="0x15f90")
    pages = [client.get(f"/tx/{hash_}") for hash_ in (first, second)]
    assert [page.status_code for page in pages] == [200, 200]
    assert all("ETag" not in page.headers for page in pages)
    shown = ('id="pending"', ">pending<", sender.lower(), receiver.lower(), "Check again")
    assert all(text in page.text for page in pages for text in shown)
    assert 'value="1000000000000000">0.001 ' in pages[0].text
    assert "(the next of its sender, by the node)" in pages[0].text
    assert "1 transaction must be mined before it" in pages[1].text
    assert "transfer(address,uint256)" in pages[1].text and "12,345,678" in pages[1].text
    record = client.get(f"/api/v1/transactions/{first}").json
    assert (record["state"], record["status"], record["blockNumber"]) == ("pending", None, None)
    api = f"/api/v1/transactions/{second}/pending"
    known = client.get(api).json
    assert (known["state"], known["transaction"]["hash"]) == ("pending", second)
    anvil.mine()
    explorer.wait_for_block(anvil.head())
    serving.wait_until(lambda: 'id="pending"' not in client.get(f"/tx/{second}").text)
    assert f"Nonce</dt><dd>{next_nonce + 1}" in client.get(f"/tx/{second}").text


def test_what_replaced_a_transaction_is_linked(sending, explorer):
    """While the node has it, and afterwards; one that is gone and was not replaced was dropped."""
    anvil, client = sending, explorer.client
    sender, receiver = (account.lower() for account in anvil.accounts[6:8])
    nonce = int(anvil.call("eth_getTransactionCount", sender, "latest"), 16)
    prices = {"maxPriorityFeePerGas": hex(10**9), "nonce": hex(nonce)}
    first = anvil.send(sender, receiver, value="0x1", maxFeePerGas=hex(10**11), **prices)
    shown = client.get(f"/tx/{first}").text
    [check] = re.findall(r'id="check" href="([^"]+)"', shown)
    assert "Speed up or cancel" in shown and f"nonce {nonce} " in shown
    anvil.call("anvil_dropTransaction", first)
    dropped = client.get(html.unescape(check))
    assert dropped.status_code == 404 and "Dropped" in dropped.text
    api = f"/api/v1/transactions/{first}/pending"
    assert client.get(api).json["state"] == "dropped"
    second = anvil.send(sender, receiver, value="0x2", maxFeePerGas=hex(10**11), **prices)
    known = client.get(api).json
    assert (known["state"], known["replacedBy"]) == ("being replaced", second)
    anvil.mine()
    explorer.wait_for_block(anvil.head())
    serving.wait_until(lambda: f'href="/tx/{second}"' in client.get(html.unescape(check)).text)
    replaced = client.get(html.unescape(check))
    assert replaced.status_code == 404 and "Replaced" in replaced.text
    known = client.get(api).json
    assert (known["state"], known["replacedBy"]) == ("replaced", second)
    later = client.get(f"/tx/{HASH}?from={sender}&nonce={nonce + 7}").text
    assert "Dropped" in later and "From, by this link" in later
    for given in ("from=0x12&nonce=1", f"from={sender}&nonce=-1", f"from={sender}&nonce={2**64}"):
        assert client.get(f"/tx/{first}?{given}").status_code == 400


def test_malformed_answers_of_the_node_are_no_transaction(indexed):
    answers = (
        ("to", None, 200),
        ("type", None, 404),
        ("blockNumber", "0xffffffffff", 200),
        ("input", "0x" + "ff" * 100_000, 200),
        ("input", "0x" + "ff" * 600_000, 404),
        ("hash", "0x" + "13" * 32, 404),
        ("from", "<script>", 404),
        ("value", "0x" + "f" * 65, 404),
        ("nonce", "0x" + "f" * 64, 404),
        ("maxFeePerGas", {"a": 1}, 404),
        ("blockNumber", "-1", 404),
    )
    with behind(indexed.settings) as (client, node):
        for name, value, status in answers:
            node.fault = every_result(json.dumps({**SENT, name: value}))
            page = client.get(f"/tx/{HASH}")
            assert page.status_code == status, (name, str(value)[:20])
            assert len(page.text) < 100_000 and "<script>" not in page.text
        memo = "<b>Grüße\u202e</b>".encode().hex()
        node.fault = every_result(json.dumps({**SENT, "to": SENT["from"], "input": f"0x{memo}"}))
        assert "&lt;b&gt;Grüße[U+202E]&lt;/b&gt;</pre>" in client.get(f"/tx/{HASH}").text
        node.fault, before = every_result(json.dumps(SENT)), node.requests
        assert client.get(f"/tx/{HASH}").status_code == 200
        assert node.requests - before == 2


def test_what_nobody_has_is_not_found(client, indexed):
    assert client.get(f"/tx/{HASH}").status_code == 404
    away = indexed.client(rpc_urls=("http://127.0.0.1:9",))
    assert [away.get(f"/tx/{HASH}").status_code for _ in range(3)] == [404] * 3
