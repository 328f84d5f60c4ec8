"""Files of holders at a block, which end where a bound of scan.extensions.exports is reached."""

import re

import pytest

from scan.extensions.exports.list_files import FileBounds
from scan.extensions.past_holders.tests.holders import file_of, path_of
from tests.support.indexing import sources


@pytest.mark.parametrize(("key", "form"), [("dollar", "ndjson"), ("forge", "csv")])
def test_a_file_that_is_not_whole_goes_on_where_it_ends(scenario, indexed, key, form):
    client = indexed.client()
    path = path_of(scenario, key, scenario.anvil.head())
    header, *whole = file_of(client, path, form).text.splitlines(keepends=True)
    bounds, lines, cursor = sources(client).get(FileBounds), [], ""
    bounds.page_rows = bounds.rows = 3
    while cursor is not None:
        answer = file_of(client, f"{path}{cursor}", form)
        lines.append(answer.text.splitlines(keepends=True))
        more = re.search("cursor=([^&>]+)", answer.headers.get("Link", ""))
        cursor = more and f"&cursor={more[1]}"
    rows = [line for part in lines for line in part]
    assert len(lines) > 2 and [line for line in rows if line != header] == whole
