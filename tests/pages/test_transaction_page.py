"""A transaction's page: its tabs, events and calls on one line each, numbers in units."""

from scan.hex import to_hex


def test_a_transaction_leads_to_those_of_its_sender(client, scenario):
    of_sender = {}
    for transaction in sorted(
        scenario.truth.transactions, key=lambda t: (t["blockNumber"], t["transactionIndex"])
    ):
        of_sender.setdefault(transaction["fromAddress"], []).append(transaction["hash"])
    for sender, hashes in of_sender.items():
        for before, hash_, after in zip([None, *hashes], hashes, [*hashes[1:], None], strict=False):
            assert client.get(f"/api/v1/transactions/{hash_}/adjacent").json == {
                "transactionHash": hash_,
                "fromAddress": sender,
                "previous": before,
                "next": after,
            }
    first, second, *_ = max(of_sender.values(), key=len)
    assert f'rel="next" href="/tx/{second}"' in client.get(f"/tx/{first}").text
    assert f'rel="prev" href="/tx/{first}"' in client.get(f"/tx/{second}").text


def test_input_that_is_text_is_shown_as_text(explorer):
    text = "Grüße <script>alert(1)</script>\n\u202eto you"
    page = explorer.get(f"/tx/{explorer.send(explorer.anvil.accounts[7], to_hex(text.encode()))}")
    assert "Grüße &lt;script&gt;alert(1)&lt;/script&gt;\n[U+202E]to you</pre>" in page
    assert to_hex(text.encode()) in page and "<script>alert" not in page
    page = explorer.get(f"/tx/{explorer.send(explorer.anvil.accounts[7], '0xfffe')}")
    assert "As text" not in page and ">0xfffe</pre>" in page


def test_a_node_without_traces_is_told_on_the_tabs(indexed, scenario):
    client = indexed.client(traces="off")
    hash_ = scenario.truth.dex_trades[0]["transactionHash"]
    for tab in ("calls", "state"):
        answer = client.get(f"/tx/{hash_}?tab={tab}")
        assert answer.status_code == 200 and "SCAN_TRACES is off" in answer.text
