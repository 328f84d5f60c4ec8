"""What filters of pages refuse, in words, and what they only find empty."""

import re
from html import unescape

import pytest


@pytest.mark.parametrize(
    "query",
    # What each is refused for stands in tests/expected/pages_refused.txt.
    [
        {"from": '"><script>alert(1)</script>'},
        {"timeTo": "2026-01-30", "timeFrom": "2026-01-31"},
        {"blockTo": "3", "blockFrom": "4"},
        {"status": "maybe"},
        {"orderBy": "up"},
    ],
)
def test_a_bad_value_stays_in_the_form(client, query):
    response = client.get("/txs", query_string=query)
    assert response.status_code == 400 and "<script>alert" not in response.text
    assert query.items() <= filters_in_form(response.text).items()


def filters_in_form(html):
    """The values that the open form is filled with, by name."""
    form = re.search(r"<details open>.*?</form>", html, re.DOTALL)
    fields = re.findall(r' name="(\w+)" value="([^"]*)"', form[0])
    fields += re.findall(r'<select name="(\w+)">.*?<option selected>([^\n<]*)', form[0], re.DOTALL)
    return {name: unescape(value) for name, value in fields}
