"""Sentences about texts that were sent to somebody."""

import pytest

from scan.extensions.explanations.tests.transactions.test_summaries import BOB, sentence

pytestmark = pytest.mark.check


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


@pytest.mark.parametrize(("data", "text"), TEXTS)
def test_a_text_is_quoted_alone_where_it_is_one(data, text):
    whole = text.replace("… ", "Sent 0.5 ETH to 0x222222…2222 with the text ", 1)
    text = whole if text.startswith("… ") else text
    assert sentence({}, to=BOB, value=5 * 10**17, data=data).text == text
