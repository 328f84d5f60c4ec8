"""Links that name a row of a list: its page begins at the row, wherever the row has moved."""

import re
from html import unescape

import pytest

from tests.support.serving import serving, wait_until

ROW = re.compile(r'<tr id="((?:tx|transfer|trade|internal)-[^"]+)"')
ABSENT = "tx-" + "9" * 64


def rows_of(client, path):
    response = client.get(path)
    assert response.status_code == 200, path
    return ROW.findall(response.text)


@pytest.mark.parametrize("order", ["desc", "asc"])
@pytest.mark.parametrize(
    "path",
    [
        *("/txs?", "/token-transfers?", "/trades?", "/token-transfers?tokenType=BEP1155&"),
        *("/address/{maker}?tab=transfers&", "/token/{token}?", "/block/{block}?"),
    ],
)
def test_a_page_begins_at_the_row_that_its_link_names(client, scenario, path, order):
    trade = scenario.truth.dex_trades[0]
    busy = max(scenario.truth.blocks, key=lambda block: block["txCount"])
    values = {"maker": trade["maker"], "token": trade["tokenIn"]}
    path = path.format(**values, block=busy["number"]) + f"limit=25&orderBy={order}"
    pages = (
        rows_of(client, f"{path.replace('limit=25', 'limit=100')}&page={number}")
        for number in range(1, 9)
    )
    whole = [row for rows in pages for row in rows]
    for index in {0, 1, len(whole) // 2, len(whole) - 1}:
        html = client.get(f"{path}&row={whole[index]}").text
        assert ROW.findall(html) == whole[index : index + 25]
        following = re.findall(r'rel="next" href="([^"]+)"', html.partition('id="pages"')[2])
        assert bool(following) == (len(whole) - index > 25)
        older = [row for link in following for row in rows_of(client, unescape(link))]
        assert older == whole[index + 25 : index + 50]


@pytest.mark.parametrize(
    "path",
    [
        "/txs?row=tx-12",
        f"/txs?row=tx-{'A' * 64}",
        f"/token-transfers?row=transfer-{'9' * 64}",
        f"/txs?page=2&row={ABSENT}",
    ],
)
def test_a_row_of_another_form_is_refused(client, path):
    response = client.get(path)
    assert response.status_code == 400 and "<tbody>" not in response.text


def test_a_row_that_is_not_indexed_leaves_the_list_empty(client):
    response = client.get(f"/txs?row={ABSENT}")
    assert response.status_code == 200
    assert "The transaction of this row is not indexed." in response.text
    assert client.get("/tokens?row=tx-1").status_code == 400  # a list without such ids


def test_a_row_beyond_its_transaction_begins_at_the_next_one(client, scenario):
    moved = scenario.truth.token_transfers[0]["transactionHash"][2:]
    for row in (f"transfer-999999999-{moved}", f"transfer-0-999999999-{moved}"):
        assert rows_of(client, f"/token-transfers?row={row}")


@pytest.mark.thorough
def test_a_link_to_a_row_that_has_moved_opens_the_list_at_it(client, page):
    rows = rows_of(client, "/txs?limit=100")
    with serving(client.application) as url:
        page.open(f"{url}/txs?limit=25&page=3#{rows[5]}")
        wait_until(lambda: page.evaluate("location.search") == f"?limit=25&row={rows[5]}")
        wait_until(lambda: page.evaluate("document.querySelector('tr:target')?.id") == rows[5])
        page.open(f"{url}/txs?limit=25#{rows[5]}")
        assert page.evaluate("location.search") == "?limit=25"
