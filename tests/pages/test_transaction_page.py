"""A transaction's page: its tabs, events and calls on one line each, numbers in units."""

import re

import pytest
from eth_utils.address import to_checksum_address

from tests.pages.markup import Markup


def test_what_stands_above_the_tabs_is_the_same_on_each(client, scenario):
    failed = next(t["hash"] for t in scenario.truth.transactions if not t["status"])
    tabs = ("", "?tab=events", "?tab=calls", "?tab=state")
    for hash_ in (scenario.truth.dex_trades[0]["transactionHash"], failed):
        heads = {
            client.get(f"/tx/{hash_}{tab}").text.partition('<nav class="tabs"')[0] for tab in tabs
        }
        assert len(heads) == 1 and "<dt>Status</dt>" in heads.pop()


def test_events_are_short_and_opened_by_choice(client, scenario):
    trade = scenario.truth.dex_trades[0]
    path = f"/tx/{trade['transactionHash']}"
    logs = client.get(f"/api/v1/transactions/{trade['transactionHash']}").json["logs"]
    assert f">Events ({len(logs)})</a>" in client.get(path).text
    events = client.get(f"{path}?tab=events").text
    assert events.count('<li id="event-') == len(logs) > 2
    assert all(f'href="/address/{log["address"]}"' in events for log in logs)
    assert all(topic in events for log in logs for topic in log["topics"])
    assert "<details>" in events and "<details open>" not in events
    opened = client.get(f"{path}?tab=events&open=all").text
    assert opened.count("<details open>") == len(logs) == events.count("<details>")
    assert "&amp;open=all" in events and "Collapse all" in opened


def test_a_call_stands_on_one_line_with_its_arguments(client, scenario):
    trade = scenario.truth.dex_trades[0]
    path = f"/tx/{trade['transactionHash']}?tab=calls"
    frames = client.get(f"/api/v1/transactions/{trade['transactionHash']}/trace").json["frames"]
    page = client.get(path).text
    lines = re.findall(r"<div class=\"step\">(.*?)<details", page, re.S)
    assert len(lines) == len(frames)
    for line, frame in zip(lines, frames, strict=True):
        for argument in (frame["function"] or {"arguments": ()})["arguments"][:8]:
            assert argument["type"] != "address" or f'/address/{argument["value"]}"' in line
            assert f">{argument['name']}</bdi>" in line
    results = [frame for frame in frames if frame["result"]]
    # On the line, or where calls and events come between, after them.
    inline, after = sum('"returned"' in line for line in lines), page.count("← returned</span>")
    assert inline + after == len(results) and inline and after
    assert client.get(f"{path}&open=all").text.count("<details open>") == len(frames)


NOT_OPENED = ["?open=all", "?tab=state&open=all", "?tab=calls&open=1", "?tab=events&open="]


@pytest.mark.parametrize("query", NOT_OPENED)
def test_what_cannot_be_opened_is_refused(client, scenario, query):
    answer = client.get(f"/tx/{scenario.truth.dex_trades[0]['transactionHash']}{query}")
    assert answer.status_code == 400 and "open" in answer.text


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
    assert client.get(f"/api/v1/transactions/0x{'12' * 32}/adjacent").status_code == 404
    assert client.get(f"/api/v1/transactions/{first}/adjacent?of=all").status_code == 400


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


def test_a_transaction_says_what_it_did_with_links(client, scenario):
    dollar = scenario.stage.contracts["dollar"].address
    transfer = next(
        row
        for row in scenario.truth.token_transfers
        if row["tokenAddress"] == dollar and "0x" + "0" * 40 not in row["fromAddress"]
    )
    path = f"transactions/{transfer['transactionHash']}"
    summary = client.get(f"/api/v1/{path}").json["summary"]
    html = client.get(f"/tx/{transfer['transactionHash']}").text
    [sentence] = re.findall(r'<p class="sentence">(.*?)</p>', html, re.DOTALL)
    text = re.sub(r"<[^>]+>", "", sentence).strip()
    linked = [part for part in summary["parts"] if part.get("address")]
    assert len(linked) >= 2
    for part in linked:
        address, shown = part["address"], to_checksum_address(part["address"])
        short, checked = (f"{a[:8]}…{a[-4:]}" for a in (address, shown))
        part["text"] = part["text"].replace(short, checked)
    assert text == "".join(part["text"] for part in summary["parts"])
    links = {attributes["href"] for tag, attributes in Markup(sentence).tags if tag == "a"}
    assert {link[-42:] for link in links if link} == {part["address"] for part in linked}
