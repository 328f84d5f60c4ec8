"""What filters of pages refuse, in words, and what they only find empty."""

import re
from html import unescape

import pytest

BAD_VALUES = [
    ({"from": "0x12"}, "From must be an address: 0x followed by 40 hex digits."),
    ({"from": '"><script>alert(1)</script>'}, "From must be an address"),
    ({"method": "0x12"}, "Method must be 0x followed by 8 hex digits."),
    ({"method": "neverHeardOf"}, "Method is not a known function: give its"),
    ({"method": "f(uint257)"}, "Method is not a signature:"),
    ({"method": "two words"}, "Method is not a signature:"),
    ({"timeFrom": "2026-02-30"}, "Since (UTC) must be a date, such as 2026-01-31."),
    ({"timeTo": "yesterday"}, "Until (UTC) must be a date, such as 2026-01-31."),
    (
        {"timeTo": "2026-01-30", "timeFrom": "2026-01-31"},
        "Until (UTC) is before “Since (UTC)”: no row can match.",
    ),
    ({"blockTo": "3", "blockFrom": "4"}, "Last block is before “First block”: no row can"),
    ({"blockTo": "-1"}, "Last block must be a whole number"),
    ({"status": "maybe"}, "Status must be one of: success, failed."),
    ({"type": "256"}, "Type must be a whole number"),
    ({"limit": "99"}, "Rows on a page must be"),
    ({"orderBy": "up"}, "The order must be"),
    ({"page": "0"}, "The page must be"),
    ({"cursor": "AAAA"}, "This link is of another list."),
]


@pytest.mark.parametrize(("query", "words"), BAD_VALUES)
def test_a_bad_value_is_refused_in_words_and_stays(client, query, words):
    response = client.get("/txs", query_string=query)
    assert response.status_code == 400 and words in unescape(response.text)
    assert "<script>alert" not in response.text
    filters = query.keys() - {"page", "cursor"}  # a place in a list is none
    assert {(key, query[key]) for key in filters} <= filters_in_form(response.text).items()


def filters_in_form(html):
    """The values that the open form is filled with, by name."""
    form = re.search(r"<details open>.*?</form>", html, re.DOTALL)
    fields = re.findall(r' name="(\w+)" value="([^"]*)"', form[0])
    fields += re.findall(r'<select name="(\w+)">.*?<option selected>([^\n<]*)', form[0], re.DOTALL)
    return {name: unescape(value) for name, value in fields}


UNKNOWN = [
    ("/txs?form=0x12", "This list has no filter “form”. Did you mean “from”?"),
    ("/txs?zzz=<b>", "This list has no filter “zzz”; its filters are address (Address), "),
    (
        "/tokens?zzz=1",
        "This list has no filter “zzz”; its filters are q (Name, symbol or address), ",
    ),
    ("/txs?to=1&to=2", "to is given more than once."),
    ("/address/0x" + 40 * "7" + "?tab=up", "This page has no tab “up”. It has: transactions,"),
    ("/tx/0x12", "Not a hash: a hash is 0x followed by 64 hex digits."),
    ("/search?q=" + 2049 * "x", "The search must be text of at most 2048 characters"),
]


@pytest.mark.parametrize(("path", "words"), UNKNOWN)
def test_what_a_page_does_not_know_is_named_in_words(client, path, words):
    response = client.get(path, headers={"Accept": "text/html"})
    assert response.status_code == 400 and response.mimetype == "text/html"
    assert words in unescape(response.text)


def test_an_unusual_type_without_transactions_is_named(client):
    html = client.get("/txs?type=9").text
    assert "Type 9 is none of the usual ones: 0 (legacy), 1 (access list)" in html
    assert "none of the usual ones" not in client.get("/txs?type=3&blockTo=0").text
