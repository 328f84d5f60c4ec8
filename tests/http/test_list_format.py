"""Which clients get a file of a list, and which a page of JSON."""

import pytest

from scan.extensions.exports.list_file import Format
from scan.http.list_format import accepted_file

pytestmark = pytest.mark.check

FIREFOX = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", None),
        ("*/*", None),
        (FIREFOX, None),
        ("application/json", None),
        ("text/*", None),
        ("text/csv", Format.CSV),
        ("Text/CSV; charset=utf-8", Format.CSV),
        ("application/x-ndjson", Format.NDJSON),
        ("text/csv, */*", Format.CSV),
        ("text/csv;q=0.5, */*", None),
        ("text/csv, */*;q=0.1", Format.CSV),
        ("application/json, text/csv", None),
        ("application/json;q=0.9, text/csv", Format.CSV),
        ("text/csv;q=0.5, application/x-ndjson", Format.NDJSON),
        ("text/csv;q=0", None),
        ("text/csv;q=nan", None),
        ("text/csv;q=x", None),
        ("text/csvx", None),
    ],
)
def test_a_file_is_for_clients_that_prefer_it_to_json(accept: str, chosen: Format | None) -> None:
    assert accepted_file(accept) is chosen
