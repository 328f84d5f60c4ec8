"""Sentences about texts that were sent to somebody."""

import re

import pytest

from scan.extensions.explanations.tests.transactions.test_summaries import BOB, sentence

TEXTS = [
    (b"Invoice 42", "Sent 0.5 ETH to 0x222222…2222 with the text “Invoice 42”"),
    ("“ends” here\n\u202enow".encode(), "… “ends here now”"),
    ("שלום".encode(), "… “שלום”"),
    (b"a" * 10_000, f"… “{'a' * 79}…”"),
    ("é".encode() * 5_000, f"… “{'é' * 79}…”"),
    (b"\xffabc", "Sent 0.5 ETH and 4 bytes of data to 0x222222…2222"),
    (b"abc\x00", "Sent 0.5 ETH and 4 bytes of data to 0x222222…2222"),
    ("\u200b\u202e".encode(), "Sent 0.5 ETH and 6 bytes of data to 0x222222…2222"),
]


@pytest.mark.check
@pytest.mark.parametrize(("data", "text"), TEXTS)
def test_a_text_is_quoted_alone_where_it_is_one(data, text):
    whole = text.replace("… ", "Sent 0.5 ETH to 0x222222…2222 with the text ", 1)
    text = whole if text.startswith("… ") else text
    assert sentence({}, to=BOB, value=5 * 10**17, data=data).text == text


def test_a_text_is_quoted_on_the_page_as_text(explorer):
    memo = f"<i>2026\u202e</i> “quoted” {'long ' * 2000}"
    receiver = explorer.anvil.accounts[7]
    sent = explorer.send(receiver, f"0x{memo.encode().hex()}", gas=hex(2_000_000))
    page = explorer.client.get(f"/tx/{sent}").text
    [shown] = re.findall(r'<p class="sentence">.*?</p>', page, re.DOTALL)
    assert "with the text <bdi>“&lt;i&gt;2026&lt;/i&gt; quoted long" in shown
    assert len(shown) < 1000 and "\u202e" not in page and "<i>2026" not in page
    parts = explorer.client.get(f"/api/v1/transactions/{sent}").json["summary"]["parts"]
    assert parts[-1]["type"] == "text" and len(parts[-1]["text"]) <= 82
