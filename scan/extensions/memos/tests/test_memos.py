"""Memos: which inputs are, what they are found by, forks, and hostile texts."""

import csv
import io
import re

import pytest
from eth_utils import keccak

from scan.ethereum.display_text import clean
from scan.extensions.memos.tests.conftest import INVOICE, NOTHING
from tests.support import auditing, indexing, table_digest

LONG = f"{'Long text. ' * 9_300}end"  # 100 kB
# Texts, and those that find them: with the same letters in one line.
HOSTILE = {
    "\u202eevil\u202c <b>bold</b>\u200b": "evil <b>bold</b>",
    "one\r\n\ttwo   three": "one two three",
    "  請求書 №114  ": "請求書 №114",
    "Z\u0300\u0301\u0302\u0303algo": "Z\u0300\u0301algo",
    "\u0301 \u0301x": "x",
    "0x5FbDB2315678afecb367f032d93F642f64180aa3": "0x5FbDB2315678afecb367f032d93F642f64180aa3",
    "'; DROP TABLE memos; -- %s %(text)s": "'; DROP TABLE memos; -- %s %(text)s",
    '{"a":"\\u0000"}': '{"a":"\\u0000"}',
}
# Inputs that are no texts: no UTF-8, controls, nothing visible, calls.
NO_TEXTS = (
    b"\xff\xfeab",
    b"Invoice\x00",
    b"Invoice \x1b[31m",
    "Invoice \x85".encode(),
    "\u202e\u200b\u2800".encode(),
    b" \r\n\t",
    keccak(text="transfer(address,uint256)")[:4] + bytes(64),
    bytes.fromhex("61626364") + bytes(32),  # a selector that is a text, with an argument
)


def test_a_memo_is_found_by_its_whole_text(chain):
    sent = [chain.send(INVOICE, n, value=n) for n in range(3)]
    others = [chain.send(text) for text in (INVOICE[:-1], INVOICE.lower(), f"{INVOICE}.")]
    chain.index()
    rows = chain.memos(INVOICE)
    assert [row["transactionHash"] for row in rows] == sent[::-1]
    assert rows[0]["text"] == INVOICE and rows[0]["value"] == "2"
    assert rows[0]["textHash"] == "0x" + keccak(text=INVOICE).hex()
    assert rows[0]["fromAddress"] == chain.node.accounts[2].lower()
    assert rows[0]["toAddress"] == NOTHING
    assert [row["transactionHash"] for row in chain.memos()] == [*sent, *others][::-1]
    [result] = chain.results(f"  {INVOICE} ")
    assert (result["value"], result["name"], result["match"]) == (INVOICE, INVOICE, "exact")
    assert chain.results(INVOICE[:-2]) == []
    assert auditing.run(chain.settings) == 0


def test_four_letters_to_nobody_are_a_memo(chain):
    """They may be a selector, but ran no code."""
    sent = chain.send("test")
    chain.index()
    assert [row["transactionHash"] for row in chain.memos("test")] == [sent]


def test_pages_lead_from_the_search_to_the_transactions(chain):
    sent = chain.send(INVOICE)
    chain.send("another & more?")
    chain.index()
    page = chain.client.get("/search", query_string={"q": INVOICE})
    assert page.status_code == 200 and 'href="/memos?text=Invoice%202026-114"' in page.text
    assert page.text.count(f"<bdi>{INVOICE}</bdi>") == 1
    suggested = chain.client.get("/search/suggestions", query_string={"q": "another & more?"}).text
    assert 'href="/memos?text=another%20%26%20more%3F"' in suggested
    listed = chain.client.get("/memos?text=Invoice%202026-114").text
    assert f"/tx/{sent}" in listed and "another" not in listed
    assert 'href="/memos"' in chain.client.get("/").text
    assert 'href="/memos?text=Invoice%202026-114"' in chain.client.get(f"/tx/{sent}").text
    file = chain.client.get("/api/v1/memos?format=csv", buffered=True).data.decode("utf-8-sig")
    expected = ["another & more?", INVOICE]
    assert [row["text"] for row in csv.DictReader(io.StringIO(file))] == expected


def test_a_memo_with_the_text_of_a_hash_does_not_keep_a_search_from_its_page(chain):
    sent = chain.send(INVOICE)
    sender = chain.node.accounts[0].lower()
    pages = {
        sender: f"/address/{sender}",
        sent: f"/tx/{sent}",
        NOTHING[:-1] + "0": f"/address/{NOTHING[:-1]}0",  # not indexed
        f"0x{64 * '9'}": f"/tx/0x{64 * '9'}",
    }
    for text in pages:
        chain.send(text)
    chain.index()
    for text, path in pages.items():
        found = chain.client.get("/search", query_string={"q": text})
        assert (found.status_code, found.headers.get("Location")) == (302, path)
        assert [result["value"] for result in chain.results(text)] == [text]


def test_a_memo_comes_after_what_else_has_its_text(chain):
    chain.node.deploy(chain.node.accounts[0], "LooseToken", "Better", "BET")
    chain.send("BET")
    chain.index()
    results = chain.client.get("/api/v1/search", query_string={"q": "BET"}).json["results"]
    assert [result["type"] for result in results] == ["token", "memo"]


def test_a_hostile_text_is_shown_and_found_in_one_line(chain):
    sent = {content: chain.send(content) for content in HOSTILE}
    chain.index()
    for content, text in HOSTILE.items():
        for searched in (content.strip(), text):
            [row] = chain.memos(searched)
            assert (row["transactionHash"], row["text"]) == (sent[content], text)
            assert [result["value"] for result in chain.results(searched)] == [text]
            found = chain.client.get("/search", query_string={"q": searched})
            assert found.status_code in (200, 302)
    for path in ("/memos", f"/address/{NOTHING}", *(f"/tx/{hash_}" for hash_ in sent.values())):
        page = chain.client.get(path)
        assert page.status_code == 200
        assert "<b>bold" not in page.text and not set("\u202e\u200b") & set(page.text)


def test_of_a_long_text_the_beginning_counts(chain):
    sent = chain.send(LONG)
    chain.index()
    [row] = chain.memos(LONG[:2048])
    assert (row["transactionHash"], row["text"]) == (sent, LONG[:2048].strip())
    [result] = chain.results(LONG[:2048])
    page = chain.client.get("/memos", query_string={"text": result["value"]})
    assert page.status_code == 200 and f"/tx/{sent}" in page.text and len(page.text) < 60_000
    assert chain.results(LONG[:2000]) == []
    refused = chain.client.get("/api/v1/memos", query_string={"text": LONG[:2049]})
    assert (refused.status_code, refused.json["field"]) == (400, "text")


def test_other_inputs_are_no_memos(chain):
    for content in NO_TEXTS:
        chain.send(content)
    chain.send(b"")
    chain.send(INVOICE, to=None)  # a creation, which fails
    chain.node.call("anvil_setCode", "0x" + 40 * "7", "0x5f5fa0")  # LOG0
    assert chain.node.receipt_of(chain.send(INVOICE, to="0x" + 40 * "7"))["logs"]
    chain.node.call("anvil_setCode", "0x" + 40 * "8", "0x5f5ffd")  # reverts
    assert chain.node.receipt_of(chain.send(INVOICE, to="0x" + 40 * "8"))["status"] == "0x0"
    chain.node.call("anvil_setCode", "0x" + 40 * "9", "0x60015f55")  # writes a slot
    chain.send("abcd", to="0x" + 40 * "9")
    chain.index()
    assert chain.memos() == []


def test_a_transaction_has_its_memo_unless_it_called_a_contract(chain):
    told = chain.send("\u202eGrüße")
    contract = chain.node.deploy(chain.node.accounts[0], "Errand").address
    chain.node.mine()
    chain.node.call("anvil_setCode", contract, "0x00")  # takes any call
    called = chain.send(INVOICE, to=contract)
    chain.index()
    assert chain.client.get(f"/api/v1/transactions/{told}").json["memo"] == "Grüße"
    assert "memo" not in chain.client.get(f"/api/v1/transactions/{called}").json
    assert [row["transactionHash"] for row in chain.memos(INVOICE)] == [called]


def test_lists_tell_two_memos_apart_that_begin_alike(chain):
    chain.send(INVOICE)
    chain.send("Invoice <b>115</b>", 1)
    chain.send(f"Invoice {LONG}", 2)
    chain.index()
    for path in ("/txs", f"/address/{NOTHING}"):
        page = chain.client.get(path).text
        assert f' data-full="{INVOICE}">' in page  # the column has no room for all of it
        assert f"“<bdi>{INVOICE}</bdi>”" in page and "“<bdi>Invoice &lt;b&gt;115" in page
        assert re.search("“<bdi>Invoice Long text[^<]{30,50}…</bdi>”", page)


def test_what_no_memo_can_be_is_refused(chain):
    for query in ({"text": text} for text in ("", "   ", "\u202e", "\x00", "a\x00")):
        refused = chain.client.get("/api/v1/memos", query_string=query)
        assert (refused.status_code, refused.json["field"]) == (400, "text")
        assert chain.client.get("/memos", query_string=query).status_code in (200, 400)


def test_forks_take_memos_back(chain):
    kept = chain.send(INVOICE)
    chain.send(INVOICE, 1)
    chain.send("gone", 2)
    chain.index()
    assert len(chain.memos(INVOICE)) == 2
    chain.node.reorganise(2)
    chain.node.mine(3)
    chain.index()
    assert [row["transactionHash"] for row in chain.memos()] == [kept]
    assert chain.results("gone") == [] and len(chain.results(INVOICE)) == 1
    assert auditing.run(chain.settings) == 0


def test_a_memo_that_many_send_is_one_list_with_pages(chain):
    sent = [chain.send(INVOICE, n % 5, nonce=hex(n // 5)) for n in range(12)]
    chain.index()
    hashes, path = [], "/api/v1/memos?text=Invoice%202026-114&limit=5"
    while path:
        body = chain.client.get(path).json
        hashes += [row["transactionHash"] for row in body["memos"]]
        assert body["total"] == len(sent)
        cursor = body["next"]
        path = f"/api/v1/memos?text=Invoice+2026-114&limit=5&cursor={cursor}" if cursor else ""
    assert hashes == sent[::-1]
    second = chain.client.get("/api/v1/memos?text=Invoice+2026-114&limit=5&page=3").json["memos"]
    assert [row["transactionHash"] for row in second] == sent[1::-1]


def test_an_index_from_before_says_since_when_it_has_memos(chain):
    before = chain.send(INVOICE)
    indexing.index_apart(chain.settings.database_url, chain.node, "none")
    after = chain.send(INVOICE)
    chain.index()
    record = chain.client.get(f"/api/v1/transactions/{before}").json
    assert "memo" not in record and "memos" in record["incomplete"]
    assert re.search(
        r"because extensions were off: .*\bmemos\b", chain.client.get(f"/tx/{before}").text
    )
    assert "incomplete" not in chain.client.get(f"/api/v1/transactions/{after}").json
    body = chain.client.get("/api/v1/memos?text=Invoice+2026-114").json
    assert (body["total"], body["completeFrom"]) == (1, 2)
    assert "Complete from block 2 on" in chain.client.get("/memos").text
    assert auditing.run(chain.settings) == 0


def test_indexing_twice_makes_the_same_memos(chain, postgres, template):
    for text in HOSTILE:
        chain.send(text)
    chain.index()
    fresh = table_digest.fresh_digest(postgres, template, chain.node)
    assert table_digest.digest(chain.settings.database_url) == fresh


@pytest.mark.check
@pytest.mark.parametrize("text", [*HOSTILE, *HOSTILE.values(), "a \u0301\u0301\u0301 b", "\u0301 "])
def test_a_text_that_is_shown_is_its_own_search(text):
    once = clean(text, 2048)
    assert clean(once, 2048) == once
