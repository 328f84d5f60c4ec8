"""A transaction's page: its tabs, events and calls on one line each, numbers in units."""

import re

from tests.pages.markup import Markup


def test_what_stands_above_the_tabs_is_the_same_on_each(client, scenario):
    failed = next(t["hash"] for t in scenario.truth.transactions if not t["status"])
    tabs = ("", "?tab=events", "?tab=calls", "?tab=state")
    for hash_ in (scenario.truth.dex_trades[0]["transactionHash"], failed):
        heads = {
            client.get(f"/tx/{hash_}{tab}").text.partition('<nav class="tabs"')[0] for tab in tabs
        }
        assert len(heads) == 1 and "<dt>Status</dt>" in heads.pop()


def test_amounts_of_tokens_have_their_units(client, scenario):
    names = {t["address"]: t for t in client.get("/api/v1/tokens").json["tokens"]}
    transfer = next(
        t
        for t in scenario.truth.token_transfers
        if t["tokenId"] is None
        and int(t["value"]) > 10**6
        and (names.get(t["tokenAddress"]) or {"decimals": 0})["decimals"] in range(1, 30)
    )
    token = names[transfer["tokenAddress"]]
    page = client.get(f"/tx/{transfer['transactionHash']}?tab=events").text
    units = int(transfer["value"]) / 10 ** token["decimals"]
    shown = re.findall(rf'data-full="{transfer["value"]}">([0-9,.]+)</span>', page)
    assert shown and all(
        abs(float(text.replace(",", "")) - units) <= units / 1000 for text in shown
    )
    events = client.get(f"/address/{transfer['tokenAddress']}?tab=events").text
    logs = client.get(f"/api/v1/logs?address={transfer['tokenAddress']}").json["logs"]
    newest = next(log for log in logs if log["event"]["name"] == "Transfer")
    value = next(a["value"] for a in newest["event"]["arguments"] if a["type"] == "uint256")
    assert f'data-full="{value}">' in events and f'/token/{transfer["tokenAddress"]}"' in events
    swap = f"/tx/{scenario.truth.dex_trades[-1]['transactionHash']}?tab=events&open=all"
    unknown = ' <span class="quiet">(raw value)</span>'
    assert re.search(rf">[0-9]+(,[0-9]{{3}})+</span>{re.escape(unknown)}", client.get(swap).text)
    assert unknown not in page.partition('aria-label="Events"')[2].partition("</details>")[0]


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
    page = explorer.get(f"/tx/{explorer.send(explorer.anvil.accounts[7], hex_of(text))}")
    assert "Grüße &lt;script&gt;alert(1)&lt;/script&gt;\n[U+202E]to you</pre>" in page
    assert hex_of(text) in page and "<script>alert" not in page
    page = explorer.get(f"/tx/{explorer.send(explorer.anvil.accounts[7], '0xfffe')}")
    assert "As text" not in page and ">0xfffe</pre>" in page


def hex_of(text):
    return f"0x{text.encode().hex()}"


def test_calls_and_state_changes_are_tabs_read_from_the_node(client, scenario):
    trade = scenario.truth.dex_trades[0]
    path = f"/tx/{trade['transactionHash']}"
    overview = client.get(path).text
    assert f'href="{path}?tab=calls"' in overview and 'class="tree"' not in overview
    calls = client.get(f"{path}?tab=calls").text
    assert trade["pairAddress"] in calls and re.search(r"<code[^>]*>(STATIC)?CALL</code>", calls)
    tags = [tag for tag, _ in Markup(calls.partition('class="tree"')[2]).tags]
    assert tags.count("li") > 3 and calls.count("<ul") == calls.count("</ul>")
    assert calls.count("<li>") == calls.count("</li>")
    assert client.get(f"{path}?tab=nothing").status_code == 400
    assert client.get(f"{path}?tab=overview").text == overview
    state = client.get(f"{path}?tab=state").text
    assert "accounts changed" in state and "Storage" in state and trade["pairAddress"] in state


def test_a_node_without_traces_is_told_on_the_tabs(indexed, scenario):
    client = indexed.client(traces="off")
    hash_ = scenario.truth.dex_trades[0]["transactionHash"]
    for tab in ("calls", "state"):
        answer = client.get(f"/tx/{hash_}?tab={tab}")
        assert answer.status_code == 200 and "SCAN_TRACES is off" in answer.text
