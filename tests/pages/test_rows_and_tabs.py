"""Rows have ids that links lead to, tabs have the lengths of their lists, blocks lead to theirs."""

import re
from collections import Counter
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.support.ids_of_rows import require_ids_of_rows

ROW = re.compile(
    r'<tr id="([^"]+)"[^>]*>\s*<td class="lead"[^>]*>.*?href="/tx/(0x\w+)(?:#([^"]+))?"'
)
TAB = re.compile(r'<a href="([^"]+)"(?: aria-current="page")?>([\w ]+?)(?: \(([\d,]+)\))?</a>')


def tabs_of(page):
    [shown] = re.findall(r'<nav class="tabs".*?</nav>', page, re.DOTALL)
    return TAB.findall(shown)


LISTS_WITH_PLACES = [("/token-transfers", "transfer"), ("/trades", "trade"), ("/txs", "tx")]


@pytest.mark.parametrize(("path", "kind"), LISTS_WITH_PLACES)
def test_a_row_leads_to_its_place_in_its_transaction_wherever_a_list_begins(client, path, kind):
    rows = ROW.findall(client.get(f"{path}?limit=100").text)
    last = ROW.findall(client.get(f"{path}?limit=100&orderBy=asc").text)
    assert len({id for id, _, _ in rows}) == len(rows) > 25
    ids = {(hash_, row): id for id, hash_, row in rows}
    assert all(ids.get((hash_, row), id) == id for id, hash_, row in last)
    assert all(id.endswith(hash_[2:]) for id, hash_, _ in rows)
    for _, hash_, row in rows[:: len(rows) // 5]:
        page = client.get(f"/tx/{hash_}").text
        assert (page.count(f'id="{row}"') == 1) if row else kind == "tx", (hash_, row)


LISTS = [
    ("/tokens", "token"),
    ("/contracts", "contract"),
    ("/token/{token}?tab=holders", "holder"),
    ("/address/{holder}?tab=tokens", "token"),
]


@pytest.mark.parametrize(("path", "kind"), LISTS)
def test_every_row_of_a_list_has_an_id_of_its_own(client, scenario, path, kind):
    moved = next(t for t in scenario.truth.token_transfers if t["tokenType"] == "BEP20")
    shown = path.format(token=moved["tokenAddress"], holder=moved["toAddress"])
    require_ids_of_rows(client.get(shown).text, kind)


def test_ids_of_a_transactions_rows_are_those_of_its_events(client, scenario):
    truth = scenario.truth
    hash_ = next(t for t in truth.token_transfers if t["batchIndex"] == 1)["transactionHash"]
    page = client.get(f"/tx/{hash_}").text
    for moved in (t for t in truth.token_transfers if t["transactionHash"] == hash_):
        end = f"-{moved['batchIndex']}" if moved["batchIndex"] else ""
        assert f'<tr id="transfer-{moved["logIndex"]}{end}">' in page
    ids = re.findall(r'id="([^"]+)"', page)
    assert [id for id, times in Counter(ids).items() if times > 1] == []


def test_tabs_have_the_lengths_of_their_lists_and_keep_their_places(client, scenario):
    truth = scenario.truth
    busy = max(truth.addresses, key=lambda address: truth.addresses[address]["txCount"])
    lists = {"Transactions": "transactions", "Token transfers": "transfers"}
    lists |= {"Trades": "trades", "Tokens": "tokens"}
    nobody = "0x" + "77" * 20
    orders = []
    for address in (busy, truth.dex_trades[0]["maker"], nobody):
        tabs = tabs_of(client.get(f"/address/{address}").text)
        lengths = {title: length for _, title, length in tabs}
        orders.append([title for title in lengths if title in lists])
        for title, name in lists.items():
            total = client.get(f"/api/v1/addresses/{address}/{name}").json["total"]
            assert lengths[title] == f"{total:,}", (address, title)
        for path, title, _ in tabs:
            assert ("?tab=" in path) == (title != "Transactions")
    assert orders == [[*lists]] * 3
    empty = [title for _, title, length in tabs if length == "0"]
    assert empty == ["Transactions", "Token transfers", "Internal", "Trades", "Tokens"]
    pool = truth.dex_trades[0]["pairAddress"]
    assert ("Trades", "") in {t[1:] for t in tabs_of(client.get(f"/address/{pool}").text)}
    token = truth.token_transfers[0]["tokenAddress"]
    record = client.get(f"/api/v1/tokens/{token}").json
    tabs = tabs_of(client.get(f"/token/{token}").text)
    shown = {title: length for _, title, length in tabs}
    assert shown["Transfers"] == f"{record['transferCount']:,}"
    assert shown["Holders"] == f"{record['holderCount']:,}"


def test_a_block_leads_to_its_token_transfers_and_trades(client, scenario):
    truth = scenario.truth
    number = truth.dex_trades[0]["blockNumber"]
    record = client.get(f"/api/v1/blocks/{number}").json
    links = [
        unescape(path)
        for path in re.findall(r'href="([^"]+)"', client.get(f"/block/{number}").text)
    ]
    for path, rows, key in (
        ("/token-transfers", truth.token_transfers, "tokenTransferCount"),
        ("/trades", truth.dex_trades, "tradeCount"),
    ):
        own = [row for row in rows if row["blockNumber"] == number]
        assert record[key] == len(own) > 0
        [link] = [link for link in links if link.startswith(f"{path}?block")]
        query = dict(parse_qsl(urlsplit(link).query))
        assert query == {"blockFrom": str(number), "blockTo": str(number)}
        assert len(ROW.findall(client.get(f"{link}&limit=100").text)) == len(own)
    empty = next(b["number"] for b in truth.blocks if not b["txCount"])
    assert client.get(f"/api/v1/blocks/{empty}").json["tradeCount"] == 0


def test_lists_of_transactions_have_the_gas_used(client, scenario):
    shown = re.findall(r'data-label="Gas used">([\d,]+)<', client.get("/txs").text)
    assert shown == [f"{int(t['gasUsed']):,}" for t in scenario.truth.transactions[:25]]


# As Blockscout names tabs, and which of a page's tabs opens; None: the page has none.
OTHER_NAMES = [
    ("/tx/{transaction}", "index", "overview"),
    ("/tx/{transaction}", "overview", "overview"),
    ("/tx/{transaction}", "state", "state"),
    ("/tx/{transaction}", "logs", "events"),
    ("/tx/{transaction}", "asset_flows", "overview"),
    ("/block/1", "index", "transactions"),
    ("/block/1", "overview", "transactions"),
    ("/block/1", "withdrawals", "transactions"),
    ("/address/{person}", "index", "transactions"),
    ("/address/{person}", "transactions", "transactions"),
    ("/address/{person}", "blocks_validated", "transactions"),
    ("/token/{token}", "token_transfers", "transfers"),
    ("/token/{token}", "transfers", "transfers"),
    ("/blocks", "all", None),
    ("/txs", "validated", None),
    ("/tokens", "all", None),
]


@pytest.mark.parametrize(("path", "theirs", "ours"), OTHER_NAMES)
def test_tabs_open_by_the_first_ones_name_and_by_blockscouts(client, scenario, path, theirs, ours):
    named = path.format(
        transaction=scenario.truth.transactions[-1]["hash"],
        person=scenario.stage.people[1],
        token=scenario.truth.tokens[0]["address"],
    )
    page = client.get(f"{named}?tab={theirs}")
    assert page.status_code == 200
    same = client.get(f"{named}?tab={ours}" if ours else named)
    assert page.text.partition("<main")[2][:3000] == same.text.partition("<main")[2][:3000]
    assert client.get(f"{named}?tab=up").status_code == 400
